//! One file per command.

pub mod anonymize;
pub mod apply;
pub mod check;
pub mod compare;
pub mod demo;
pub mod evaluate;
pub mod frontier;
pub mod hierarchy;
pub mod inferences;
pub mod init;
pub mod list;
pub mod measure;
pub mod queries;
pub mod reproduce;

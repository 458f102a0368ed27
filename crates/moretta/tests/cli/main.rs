//! End-to-end tests of the command line: output, exit codes and files.

mod adult;
mod apply_compare;
mod bad_input;
mod browser;
mod columns;
mod commands;
mod compare_methods;
mod disclosure;
mod evaluate;
mod folder;
mod frontier;
mod inferences;
mod killed;
mod limits;
mod people;
mod queries;
mod readme;
mod release;
mod reproduce;
mod snapshots;

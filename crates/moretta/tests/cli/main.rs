//! The command line from outside: what it prints, what it exits with, what it leaves on the disk.

mod adult;
mod apply_compare;
mod bad_input;
mod browser;
mod columns;
mod command_lines;
mod commands;
mod compare_methods;
mod disclosure;
mod documents;
mod evaluate;
mod folder;
mod frontier;
mod inferences;
mod killed;
mod limits;
mod people;
mod queries;
mod readme;
mod reference;
mod release;
mod reproduce;
mod snapshots;

//! End-to-end tests of the command line: output, exit codes and files.

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

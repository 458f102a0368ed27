//! Every operation keeps chromosomes valid, and repair changes as few bits as possible.

use proptest::prelude::*;

use super::WORK;
use crate::{
    hierarchy::Domain,
    search::{
        genetic::{chromosome::Chromosome, segment::Segment},
        rng::SearchRng,
    },
    testing::TestTable,
};

const DEEP: &str = "a1;a;ab;*\na2;a;ab;*\nb1;b;ab;*\nb2;b;ab;*\nc1;c;c;*\nc2;c;c;*\nc3;c;c;*\nd1;d;d;*";

/// A deep hierarchy, the paper's hierarchy of work classes, free numbers, and free numbers with missing values.
fn table() -> TestTable {
    let policy = "privacy.k = 2\ncolumns.zip = { role = \"quasi-identifier\", hierarchy = \"zip.csv\" }\n\
        columns.work = { role = \"quasi-identifier\", hierarchy = \"work.csv\" }\n\
        columns.n.role = \"quasi-identifier\"\n\
        columns.m = { role = \"quasi-identifier\", type = \"number\", missing = \"category\" }";
    let rows = ["a1,inc,1,1", "a2,federal,2,?", "b1,state,3,3", "c1,local,5,4", "d1,private,9,7"].map(|row| (row, 1));
    TestTable::new(policy, &[("zip", DEEP), ("work", WORK)], &rows)
}

/// All boundaries between neighboring codes.
fn ends(domain: &Domain) -> Vec<u32> {
    (0..domain.len() as u32 - 1).collect()
}

fn segment(table: &TestTable, column: usize) -> Segment<'_> {
    let domain = &table.profile.columns()[column].domain;
    Segment::new(domain, ends(domain), 0)
}

fn chromosome(segment: &Segment<'_>, bits: u32) -> Chromosome {
    let mut chromosome = Chromosome::zeros(segment.bits.end);
    segment.bits.clone().for_each(|bit| chromosome.set(bit, bits >> bit & 1 == 1));
    chromosome
}

fn shown(segment: &Segment<'_>, chromosome: &Chromosome) -> String {
    segment.bits.clone().map(|bit| if chromosome.get(bit) { '1' } else { '0' }).collect()
}

#[test]
fn an_open_node_opens_the_nodes_above_it() {
    // The paper's example: setting the bit between federal and state also sets bits 2, 4, 5 and 6 (counted from 1).
    let table = table();
    let work = segment(&table, 1);
    assert_eq!(work.bits, 0..7);
    let mut bits = Chromosome::zeros(7);
    work.flip(&mut bits, 2);
    assert_eq!(shown(&work, &bits), "0111110");
    assert!(work.is_valid(&bits));
    bits.set(3, false);
    assert!(!work.is_valid(&bits));
    // Clearing a bit inside Government closes it; the root stays open.
    bits.set(3, true);
    work.flip(&mut bits, 3);
    assert_eq!(shown(&work, &bits), "0100110");
}

#[test]
fn a_chromosome_is_valid_if_its_cells_are_nodes_and_repair_is_minimal() {
    let table = table();
    for column in 0..4 {
        let segment = segment(&table, column);
        let all: Vec<Chromosome> = (0..1 << segment.bits.end).map(|bits| chromosome(&segment, bits)).collect();
        let distance =
            |a: &Chromosome, b: &Chromosome| segment.bits.clone().filter(|&bit| a.get(bit) != b.get(bit)).count();
        let valid: Vec<&Chromosome> = all.iter().filter(|chromosome| segment.is_valid(chromosome)).collect();
        for chromosome in &all {
            // By definition: in a valid cut, the codes between two ones are exactly a cell of the column.
            let mut cells = Vec::new();
            let mut first = 0;
            for end in segment.bits.clone().filter(|&bit| chromosome.get(bit)).chain([segment.bits.end]) {
                cells.push(segment.domain.cover(first, end as u32));
                first = end as u32 + 1;
            }
            let lengths: u32 = cells.iter().map(|cell| cell.last - cell.first + 1).sum();
            assert_eq!(
                segment.is_valid(chromosome),
                lengths as usize == segment.domain.len(),
                "{}",
                shown(&segment, chromosome)
            );
            if segment.is_valid(chromosome) {
                let mut found = Vec::new();
                segment.each_cell(chromosome, |cell| found.push(cell));
                assert_eq!(found, cells);
            }
            let mut repaired = chromosome.clone();
            segment.repair(&mut repaired);
            assert!(segment.is_valid(&repaired));
            let min_changes = valid.iter().map(|valid| distance(chromosome, valid)).min();
            assert_eq!(Some(distance(chromosome, &repaired)), min_changes, "{}", shown(&segment, chromosome));
        }
    }
}

proptest! {
    #[test]
    fn drawn_crossed_and_mutated_chromosomes_are_valid(seed: u64, flips in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let table = table();
        let mut rng = SearchRng::new(seed, 0);
        for column in 0..4 {
            let segment = segment(&table, column);
            let mut child = Chromosome::zeros(segment.bits.end);
            let mut other = child.clone();
            segment.draw(&mut child, &mut rng);
            segment.draw(&mut other, &mut rng);
            prop_assert!(segment.is_valid(&child) && segment.is_valid(&other));
            let (a, b) = (rng.below(segment.bits.end + 1), rng.below(segment.bits.end + 1));
            child.copy_from(&other, a.min(b)..a.max(b));
            segment.repair(&mut child);
            prop_assert!(segment.is_valid(&child));
            for flip in &flips {
                let bit = flip.index(segment.bits.end);
                let before = child.get(bit);
                segment.flip(&mut child, bit);
                prop_assert!(segment.is_valid(&child) && child.get(bit) != before);
            }
        }
    }
}

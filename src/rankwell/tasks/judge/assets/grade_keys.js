// The keys of grades.

/**
 * The key of each grade: its own digit where all grades have one, else their places from 0 on; "" beyond the tenth.
 * @param {{grade: number}[]} grades
 */
export function gradeKeys(grades) {
  const isOwn = grades.every(({grade}) => Number.isInteger(grade) && grade < 10);
  return grades.map(({grade}, place) => (isOwn ? String(grade) : place < 10 ? String(place) : ""));
}

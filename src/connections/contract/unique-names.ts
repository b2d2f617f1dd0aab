/** Names that differ without regard to case, as the columns of a table must: `['a', 'A', '']` → `['a', 'A_1', 'column_3']` */
export const uniqueNames = (names: readonly string[]): string[] => {
  const taken = new Set<string>()
  return names.map((given, index) => {
    const name = given === '' ? `column_${index + 1}` : given
    let unique = name
    for (let count = 1; taken.has(unique.toLowerCase()); count++) unique = `${name}_${count}`
    taken.add(unique.toLowerCase())
    return unique
  })
}

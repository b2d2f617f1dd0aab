/**
 * The texts of the values in JSON rows, exactly as written, so that no number loses a digit.
 *
 * @example [...writtenValues('[[1,"a,b"],[9007199254740993,{"c":[2]}]]')] // [['1', '"a,b"'], ['9007199254740993', '{"c":[2]}']]
 */
export function* writtenValues(rows: string): Generator<string[], void, void> {
  let [depth, from, isText] = [0, 0, false]
  let row: string[] = []
  for (let at = 0; at < rows.length; at++) {
    const sign = rows[at]
    if (isText) {
      if (sign === '\\') at++
      else if (sign === '"') isText = false
    } else if (sign === '"') isText = true
    else if (sign === '[' || sign === '{') {
      depth++
      if (depth === 2) [row, from] = [[], at + 1]
    } else if (sign === ',' && depth === 2) {
      row.push(rows.slice(from, at))
      from = at + 1
    } else if (sign === ']' || sign === '}') {
      depth--
      if (depth === 1) yield [...row, rows.slice(from, at)]
    }
  }
}

/** Names as members of an object: a repeated name gets a number. */
const memberNames = (names: readonly string[]): string[] => {
  const taken = new Set<string>()
  return names.map((name) => {
    let member = name
    for (let n = 1; taken.has(member); n++) member = `${name}_${n}`
    taken.add(member)
    return member
  })
}

/**
 * Turns rows that arrive in pieces into a JSON array of objects, one per line.
 *
 * @example for await (const text of objectsOf(['a'], pieces)) parts.push(text) // '[', '\n{"a":1},\n{"a":2}', '\n]\n'
 */
export async function* objectsOf(names: readonly string[], pieces: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  const members = memberNames(names).map((name) => `${JSON.stringify(name)}:`)
  yield '['
  let before = '\n'
  for await (const piece of pieces) {
    let text = ''
    for (const values of writtenValues(piece)) {
      text += `${before}{${values.map((value, i) => `${members[i] ?? ''}${value}`).join(',')}}`
      before = ',\n'
    }
    yield text
  }
  yield '\n]\n'
}

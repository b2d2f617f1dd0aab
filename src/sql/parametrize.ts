import { comparedWith, isName, isSymbol, isWord, selectItems, type Item } from './constant-names.js'
import { lex, splitSingle, type Token } from './lexer.js'
import { parseStatement } from './statements/parse.js'

type Constant = { value: string | number | boolean; type: 'str' | 'int' | 'float' | 'bool' }
/** A constant that became a parameter. */
export type Parameter = { name: string } & Constant
/** A statement with names in the place of its constants. `databases` has the tables that it names, by what stands before the dot. */
export type Parametrized = { query: string; parameters: Parameter[]; databases: Record<string, string[]> }

/** A constant in the text: from token `start` up to token `end`. */
type Place = Constant & { start: number; end: number }

const numberOf = (token: Token, negative: boolean): Constant | undefined => {
  const text = token.text.replaceAll('_', '')
  const value = Number(`${negative ? '-' : ''}${text}`)
  const type = /^\d+$/.test(text) ? 'int' : 'float'
  // What JSON's numbers cannot carry stays in the text.
  return Number.isFinite(value) && (type === 'float' || Number.isSafeInteger(value)) ? { value, type } : undefined
}

const typeWords = 'DATE TIME TIMESTAMP TIMESTAMPTZ DATETIME INTERVAL'.split(' ')
const sizedTypes = 'DECIMAL NUMERIC DEC VARCHAR CHAR CHARACTER BPCHAR TEXT STRING BIT FLOAT DOUBLE'.split(' ')

/** Where a constant is part of the language and not a value: a literal's type, a size, a version, a limit, a place in a list. */
const isFixed = (tokens: readonly Token[], start: number): boolean => {
  const before = tokens[start - 1]
  if (isSymbol(before, '.', '::', '=>') || isWord(before, 'AS', 'LIMIT', 'OFFSET', 'BY', 'ESCAPE', ...typeWords)) return true
  if (isSymbol(before, '(') && isWord(tokens[start - 2], ...sizedTypes)) return true
  return isSymbol(before, ',') && isSymbol(tokens[start - 3], '(') && isWord(tokens[start - 4], 'DECIMAL', 'NUMERIC', 'DEC')
}

const isSigned = (tokens: readonly Token[], i: number): boolean =>
  isSymbol(tokens[i - 1], '-') &&
  (isSymbol(tokens[i - 2], '(', ',', '=', '<', '>', '<=', '>=', '<>', '!=') ||
    isWord(tokens[i - 2], 'SELECT', 'THEN', 'ELSE', 'AND', 'BETWEEN'))

const constantAt = (tokens: readonly Token[], i: number): Place | undefined => {
  const token = tokens[i]
  if (!token) return undefined
  const start = token.kind === 'number' && isSigned(tokens, i) ? i - 1 : i
  if (isFixed(tokens, start)) return undefined
  const found: Constant | undefined =
    token.kind === 'string' && token.text.startsWith("'")
      ? { value: token.value, type: 'str' }
      : token.kind === 'number'
        ? numberOf(token, start < i)
        : isWord(token, 'TRUE', 'FALSE') && !isWord(tokens[i - 1], 'IS', 'NOT') && !isSymbol(tokens[i + 1], '(', '.')
          ? { value: isWord(token, 'TRUE'), type: 'bool' }
          : undefined
  return found && { ...found, start, end: i + 1 }
}

/** The places of ORDER BY and GROUP BY are no values, in lists neither. */
const inOrderedList = (tokens: readonly Token[], start: number): boolean => {
  for (
    let at = start - 1;
    at >= 0 && (isSymbol(tokens[at], ',') || tokens[at]?.kind === 'number' || isWord(tokens[at], 'ASC', 'DESC'));
    at--
  )
    if (isWord(tokens[at - 1], 'BY')) return true
  return false
}

/** The columns of INSERT INTO t (a, b), or the table's own name for all of them. */
const insertNames = (tokens: readonly Token[]): ((place: Place) => string | undefined) => {
  if (!isWord(tokens[0], 'INSERT')) return () => undefined
  const values = tokens.findIndex((token) => isWord(token, 'VALUES'))
  const open = tokens.findIndex((token) => isSymbol(token, '('))
  const columns =
    open >= 0 && open < values
      ? tokens
          .slice(open, values)
          .filter(isName)
          .map(({ value }) => value)
      : []
  const table = tokens.slice(0, open >= 0 ? Math.min(open, values) : values).findLast(isName)?.value
  return ({ start }) => {
    if (values < 0 || start < values) return undefined
    let [at, commas, depth] = [start - 1, 0, 0]
    for (; at > values; at--) {
      if (isSymbol(tokens[at], ')')) depth++
      else if (isSymbol(tokens[at], '(') && depth-- === 0) break
      else if (depth === 0 && isSymbol(tokens[at], ',')) commas++
    }
    return columns[commas] ?? table
  }
}

const innermostAlias = (items: readonly Item[], { start }: Place): string | undefined =>
  items.filter((item) => item.alias !== undefined && item.start <= start && start < item.end).sort((a, b) => b.start - a.start)[0]?.alias

/** `Total sales` → `Total_sales`: a parameter's name is a word. */
const asWord = (name: string): string => name.replace(/[^A-Za-z0-9_\u0080-\uffff]/g, '_').replace(/^(?=\d|$)/, '_')

const unused = (name: string, used: Set<string>): string => {
  let free = name
  for (let n = 2; used.has(free); n++) free = `${name}${n}`
  used.add(free)
  return free
}

/** The tables after FROM, JOIN, INTO and UPDATE that have something before a dot. */
const tablesIn = (tokens: readonly Token[]): Record<string, string[]> => {
  const found = new Map<string, Set<string>>()
  /** For each open bracket, whether a comma leads to another table. */
  const inFrom = [false]
  tokens.forEach((token, i) => {
    if (isSymbol(token, '(')) inFrom.push(false)
    else if (isSymbol(token, ')')) inFrom.pop()
    else if (isWord(token, 'WHERE', 'GROUP', 'HAVING', 'ORDER', 'LIMIT', 'SELECT', 'UNION', 'USING', 'SET'))
      inFrom[inFrom.length - 1] = false
    const begins = isWord(token, 'FROM', 'JOIN', 'INTO', 'UPDATE') && !isWord(tokens[i - 1], 'DISTINCT')
    if (begins) inFrom[inFrom.length - 1] = true
    if (!begins && !(isSymbol(token, ',') && inFrom.at(-1) === true)) return
    const parts: string[] = []
    for (let at = i + 1; isName(tokens[at]) || tokens[at]?.kind === 'number'; at += 2) {
      parts.push(tokens[at]?.value ?? '')
      if (!isSymbol(tokens[at + 1], '.')) break
    }
    const [database, ...rest] = parts
    if (database !== undefined && rest.length > 0) found.set(database, (found.get(database) ?? new Set()).add(rest.join('.')))
  })
  return Object.fromEntries([...found].map(([database, tables]) => [database, [...tables]]))
}

const isQueryOrWrite = (token: Token | undefined): boolean =>
  isWord(token, 'SELECT', 'WITH', 'INSERT', 'UPDATE', 'DELETE', 'FROM') || isSymbol(token, '(')

/**
 * Puts `:name` in the place of each constant of a query or a write, named after the column it is compared with, the column it is
 * written to, or what it is called. Limits, versions, sizes of types and typed literals stay. Other statements have none.
 *
 * @example parametrize("SELECT a FROM d.t WHERE b = 'x'") // { query: 'SELECT a FROM d.t WHERE b = :b', parameters: [{ name: 'b', value: 'x', type: 'str' }], databases: { d: ['t'] } }
 * @throws Problem of a text that is no statement
 */
export const parametrize = (sql: string): Parametrized => {
  const tokens = splitSingle(lex(sql), sql)
  if (!isQueryOrWrite(tokens[0])) {
    parseStatement(sql)
    return { query: sql, parameters: [], databases: {} }
  }
  const using = tokens.findIndex((token, i) => isWord(token, 'USING') && !isSymbol(tokens[i + 1], '('))
  const body = using < 0 ? tokens : tokens.slice(0, using)
  const items = selectItems(body)
  const inserted = insertNames(body)
  const used = new Set(tokens.filter(({ kind }) => kind === 'parameter').map(({ value }) => value))
  const parameters: Parameter[] = []
  let [query, at] = ['', 0]
  for (let i = 0; i < body.length; i++) {
    const place = constantAt(body, i)
    if (!place || inOrderedList(body, place.start)) continue
    const { start, end, value, type } = place
    const wanted = inserted(place) ?? comparedWith(body, start, end) ?? innermostAlias(items, place) ?? 'param'
    const name = unused(asWord(wanted), used)
    parameters.push({ name, value, type })
    query += `${sql.slice(at, body[start]?.start)}:${name}`
    at = body[end - 1]?.end ?? at
  }
  return { query: query + sql.slice(at), parameters, databases: tablesIn(body) }
}

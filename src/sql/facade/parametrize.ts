import { aliasesAround, comparedWith, isName, openBrackets } from '../../dialect/constant-names.js'
import { lex, splitSingle, type Token } from '../../dialect/lexer.js'
import { parseStatement } from '../statements/parse.js'
import { isSymbol, isWord } from '../../dialect/tokens.js'

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

const mayBeConstant = (token: Token): boolean => token.kind === 'number' || token.kind === 'string' || isWord(token, 'TRUE', 'FALSE')

const constantAt = (tokens: readonly Token[], i: number): Place | undefined => {
  const token = tokens[i]
  if (!token || !mayBeConstant(token)) return undefined
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

/** For each token whether a constant behind it is a place of ORDER BY or GROUP BY, and no value. */
const orderedLists = (tokens: readonly Token[]): boolean[] => {
  let inList = false
  return tokens.map((token, i) => {
    const goesOn = isSymbol(token, ',') || token.kind === 'number' || isWord(token, 'ASC', 'DESC')
    inList = goesOn && (inList || isWord(tokens[i - 1], 'BY'))
    return inList
  })
}

/** For each token behind VALUES where in its row it stands, from 0: the commas before it that no inner bracket holds. */
const placesInRows = (tokens: readonly Token[], values: number): number[] => {
  let [commas, depth] = [0, 0]
  return tokens.map((token, i) => {
    if (i <= values) return 0
    if (isSymbol(token, '(', '[', '{')) depth++
    else if (isSymbol(token, ')', ']', '}')) depth--
    else if (isSymbol(token, ',')) commas = depth === 0 ? 0 : commas + (depth === 1 ? 1 : 0)
    return commas
  })
}

/** The columns of INSERT INTO t (a, b), or the table's own name for all of them. */
const insertNames = (tokens: readonly Token[]): ((place: Place) => string | undefined) => {
  const values = isWord(tokens[0], 'INSERT') ? tokens.findIndex((token) => isWord(token, 'VALUES')) : -1
  if (values < 0) return () => undefined
  const open = tokens.findIndex((token) => isSymbol(token, '('))
  const columns = open < values ? tokens.slice(open, values).filter(isName) : []
  const table = tokens.slice(0, Math.min(open, values)).findLast(isName)
  const places = placesInRows(tokens, values)
  return ({ start }) => (start < values ? undefined : (columns[places[start] ?? 0] ?? table)?.value)
}

/** `Total sales` → `Total_sales`: a parameter's name is a word. */
const asWord = (name: string): string => name.replace(/[^A-Za-z0-9_\u0080-\uffff]/g, '_').replace(/^(?=\d|$)/, '_')

/** Gives each name once: `x`, then `x2`, `x3`, … */
const unusedAmong = (used: Set<string>): ((name: string) => string) => {
  const counts = new Map<string, number>()
  return (name) => {
    let count = counts.get(name) ?? 1
    let free = count === 1 ? name : `${name}${count}`
    while (used.has(free)) free = `${name}${++count}`
    used.add(free)
    counts.set(name, count)
    return free
  }
}

/** Functions whose arguments have a FROM between them. */
const withFrom = 'EXTRACT SUBSTRING TRIM OVERLAY'.split(' ')
const clausesAfterFrom = 'WHERE GROUP HAVING ORDER LIMIT SELECT UNION USING SET'.split(' ')

/** The name that begins at a token, part by part; a number is a model's version. */
const partsFrom = (tokens: readonly Token[], i: number): string[] => {
  const parts: string[] = []
  for (let at = i; isName(tokens[at]) || tokens[at]?.kind === 'number'; at += 2) {
    parts.push(tokens[at]?.value ?? '')
    if (!isSymbol(tokens[at + 1], '.')) break
  }
  return parts
}

/** The tables after FROM, JOIN, INTO and UPDATE that have something before a dot. */
const tablesIn = (tokens: readonly Token[]): Record<string, string[]> => {
  const found = new Map<string, Set<string>>()
  /** For each open bracket, whether it is a function's, or a comma leads to another table. */
  const brackets: ('function' | 'tables' | 'other')[] = ['other']
  tokens.forEach((token, i) => {
    if (isSymbol(token, '(')) brackets.push(isWord(tokens[i - 1], ...withFrom) ? 'function' : 'other')
    else if (isSymbol(token, ')')) brackets.pop()
    else if (isWord(token, ...clausesAfterFrom)) brackets[brackets.length - 1] = 'other'
    const inside = brackets.at(-1)
    const begins = isWord(token, 'FROM', 'JOIN', 'INTO', 'UPDATE') && inside !== 'function' && !isWord(tokens[i - 1], 'DISTINCT')
    if (begins) brackets[brackets.length - 1] = 'tables'
    if (!begins && !(isSymbol(token, ',') && inside === 'tables')) return
    const [database, ...rest] = partsFrom(tokens, i + 1)
    if (database !== undefined && rest.length > 0) found.set(database, (found.get(database) ?? new Set()).add(rest.join('.')))
  })
  return Object.fromEntries([...found].map(([database, tables]) => [database, [...tables]]))
}

const isQueryOrWrite = (token: Token | undefined): boolean =>
  isWord(token, 'SELECT', 'WITH', 'INSERT', 'UPDATE', 'DELETE', 'FROM') || isSymbol(token, '(')

/**
 * Puts `:name` in the place of each constant of a query or a write, named after the column it is compared with, the column it is
 * written to, or what it is called. Limits, versions, sizes of types and typed literals stay. Other statements have none. It pauses
 * between its parts, of which none takes long.
 *
 * @example await inTurns(parametrize("SELECT a FROM d.t WHERE b = 'x'")) // { query: 'SELECT a FROM d.t WHERE b = :b', parameters: [{ name: 'b', value: 'x', type: 'str' }], databases: { d: ['t'] } }
 * @throws Problem of a text that is no statement
 */
export function* parametrize(sql: string): Generator<void, Parametrized> {
  const tokens = splitSingle(lex(sql), sql)
  yield
  if (!isQueryOrWrite(tokens[0])) {
    parseStatement(sql)
    return { query: sql, parameters: [], databases: {} }
  }
  const using = tokens.findIndex((token, i) => isWord(token, 'USING') && !isSymbol(tokens[i + 1], '('))
  const body = using < 0 ? tokens : tokens.slice(0, using)
  const aliases = aliasesAround(body)
  yield
  const brackets = openBrackets(body)
  const ordered = orderedLists(body)
  yield
  const inserted = insertNames(body)
  const unused = unusedAmong(new Set(tokens.filter(({ kind }) => kind === 'parameter').map(({ value }) => value)))
  const parameters: Parameter[] = []
  let [query, at] = ['', 0]
  for (let i = 0; i < body.length; i++) {
    yield
    const place = constantAt(body, i)
    if (!place || ordered[place.start - 1]) continue
    const { start, end, value, type } = place
    const wanted = inserted(place) ?? comparedWith(body, start, end, brackets[start] ?? -1) ?? aliases[start] ?? 'param'
    const name = unused(asWord(wanted))
    parameters.push({ name, value, type })
    query += `${sql.slice(at, body[start]?.start)}:${name}`
    at = body[end - 1]?.end ?? at
  }
  yield
  return { query: query + sql.slice(at), parameters, databases: tablesIn(body) }
}

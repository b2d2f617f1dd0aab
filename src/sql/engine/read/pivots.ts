import type { DuckDBConnection } from '@duckdb/node-api'
import { foldName } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { Token } from '../../../dialect/lexer.js'
import { closingBracket, isSymbol, isWord, upperWord } from '../../../dialect/tokens.js'
import { printSelect, readChecked } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import {
  aliased,
  become,
  cast,
  columnRef,
  isColumnRef,
  listOf,
  nodeOf,
  nodesOf,
  selectNode,
  subqueryRef,
  textOf,
  textsOf,
  walk,
} from '../ast/nodes.js'
import { checkRewritten, pivotOfType, isPivotValues, pivotValues } from '../guard/guard.js'
import { endBinding } from '../session/binding.js'
import { describe, standalone } from '../session/describe.js'
import type { Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { withText, type Text } from '../session/sources.js'

const words = (text: string) => new Set(text.split(' '))
const ends = words('GROUP ORDER LIMIT OFFSET UNION INTERSECT EXCEPT')
const pivotWords = words('PIVOT PIVOT_WIDER')
const isClosing = (token: Token) => token.kind === 'symbol' && ')]}'.includes(token.text)
const isOpening = (token: Token) => token.kind === 'symbol' && '([{'.includes(token.text)

type PlacedWord = { index: number; word: string; text: string }

/**
 * The tokens of one level from a place on, without the content of brackets. The level ends where its bracket closes, at a bracket that
 * never closes, and before the next PIVOT. So one walk reads many PIVOTs.
 */
const levelFrom = (tokens: Token[], start: number): PlacedWord[] => {
  const found: PlacedWord[] = []
  let depth = 0
  for (let index = start; index < tokens.length; index++) {
    const token = tokens[index]
    if (!token || (isClosing(token) && --depth < 0)) break
    const word = upperWord(token)
    if (pivotWords.has(word)) break
    if (depth === 0) found.push({ index, word, text: token.text })
    if (isOpening(token)) depth++
    if (!isSymbol(token, '(')) continue
    const close = closingBracket(tokens, index)
    if (close === undefined) break
    index = close - 1
  }
  return found
}

/** `FROM t PIVOT (sum(x) FOR y IN (…))` is the other form. It always has values. */
const isStandardForm = (tokens: Token[], pivot: number): boolean =>
  tokens[pivot + 1]?.text === '(' && levelFrom(tokens, pivot + 2).some(({ word }) => word === 'FOR')

/** The items behind ON, each as the indexes of its tokens. */
const itemsOf = (tokens: Token[], pivot: number): { index: number; word: string }[][] => {
  const level = levelFrom(tokens, pivot + 1)
  const firstOn = level.findIndex(({ word }) => word === 'ON')
  const end = level.findIndex(({ word }, i) => ends.has(word) || (word === 'USING' && firstOn !== -1 && firstOn < i))
  const clause = end === -1 ? level : level.slice(0, end)
  const on = clause.findLastIndex(({ word }) => word === 'ON')
  const items: { index: number; word: string }[][] = [[]]
  for (const token of on === -1 ? [] : clause.slice(on + 1)) {
    if (token.text === ',') items.push([])
    else items.at(-1)?.push(token)
  }
  return items
}

/**
 * The places of ` IN …` that let `PIVOT t ON x USING sum(y)` parse as one SELECT: indexes of tokens to insert it behind. The values are
 * found during the rewriting.
 *
 * @example missingValues(lex('PIVOT t ON x USING sum(y)')) // Map { 3 => ' IN ledger_pivot_values' }
 */
export const missingValues = (tokens: Token[]): Map<number, string> => {
  const found = new Map<number, string>()
  tokens.forEach((token, pivot) => {
    if (!pivotWords.has(upperWord(token)) || isStandardForm(tokens, pivot)) return
    for (const item of itemsOf(tokens, pivot)) {
      const last = item.at(-1)
      if (last && !item.some(({ word }) => word === 'IN')) found.set(last.index, ` IN ${pivotValues}`)
    }
  })
  return found
}

const queryWords = ['SELECT', 'WITH', 'FROM', 'VALUES']

/** The tokens between which PIVOT names its values: behind ON, or behind FOR. */
const valuesClause = (tokens: Token[], pivot: number): { index: number; word: string }[] => {
  if (!isStandardForm(tokens, pivot)) return itemsOf(tokens, pivot).flat()
  const level = levelFrom(tokens, pivot + 2)
  return level.slice(level.findIndex(({ word }) => word === 'FOR'))
}

/**
 * The places of the queries in `PIVOT … IN (SELECT …)`: the indexes of the brackets around each query. A query inside another one belongs
 * to the outer one.
 *
 * @example valueQueries(lex('PIVOT t ON x IN (SELECT 1) USING sum(y)')) // [{ open: 5, close: 8 }]
 */
export const valueQueries = (tokens: Token[]): { open: number; close: number }[] => {
  const found = tokens.flatMap((token, pivot) =>
    (pivotWords.has(upperWord(token)) ? valuesClause(tokens, pivot) : []).flatMap(({ index, word }) => {
      const open = index + 1
      const close = word === 'IN' && isWord(tokens[open + 1], ...queryWords) ? closingBracket(tokens, open) : undefined
      return isSymbol(tokens[open], '(') && close !== undefined ? [{ open, close }] : []
    }),
  )
  let end = -1
  return found
    .sort((a, b) => a.open - b.open)
    .filter(({ close }) => {
      const isOuter = close > end
      end = Math.max(end, close)
      return isOuter
    })
}

const tooMany = () =>
  new Problem(
    'query_limit',
    'PIVOT has too many columns',
    `PIVOT would have more than ${limits.sqlPivotMaxValues} columns (sqlPivotMaxValues)`,
    {
      limit: 'sqlPivotMaxValues',
      hint: 'List the values: PIVOT … ON x IN (…).',
    },
  )

/** The text around a query of one column, v, that gives each value once: in the order of the values, or in the order of the query. */
const around = {
  sorted: ['SELECT DISTINCT v FROM (', ') AS t WHERE v IS NOT NULL ORDER BY v'],
  asGiven: ['SELECT v FROM (SELECT v, row_number() OVER () AS n FROM (', ') AS t) AS t WHERE v IS NOT NULL GROUP BY v ORDER BY min(n)'],
} as const

const distinct = async (connection: DuckDBConnection, query: AstNode, order: keyof typeof around): Promise<string[]> => {
  checkRewritten(query)
  const max = limits.sqlPivotMaxValues
  const text = await printSelect(connection, query)
  const [before, after] = around[order]
  const rows = await withText(
    text,
    query,
    () => readChecked(connection, text, { before, after: `${after} LIMIT ${max + 1}` }),
    before.length,
  )
  if (rows.length > max) throw tooMany()
  return rows.map(([value]) => String(value))
}

/** The values of an expression over all rows of a table, as texts in the order of the values. DuckDB compares pivoted values as texts. */
const valuesOf = async ({ connection }: Session, value: AstNode, source: AstNode, scope: Scope): Promise<string[]> => {
  const query = standalone([aliased('v', cast(value, 'VARCHAR'))], source, null, scope)
  return distinct(connection, query, 'sorted')
}

/** The values of a query of one column, in its order, each value once. */
const valuesOfQuery = async ({ connection }: Session, query: AstNode, scope: Scope): Promise<string[]> => {
  const source = subqueryRef(query, 'q', ['v'])
  const columns = await describe(connection, subqueryRef(query, 'q'), scope)
  if (columns.length !== 1)
    throw new Problem('bad_statement', 'PIVOT takes one column', `The query behind PIVOT … IN gives ${columns.length} columns`, {
      hint: 'Select the one that has the values: PIVOT … ON x IN (SELECT x FROM …).',
    })
  return distinct(connection, standalone([aliased('v', cast(columnRef('q', 'v'), 'VARCHAR'))], source, null, scope), 'asGiven')
}

const entryOf = (value: string): AstNode => ({
  values: [{ type: { id: 'VARCHAR', type_info: null }, is_null: false, value }],
  star_expr: null,
  alias: '',
})

/**
 * A PIVOT without any values has no value columns, and DuckDB's text cannot express this. Only its groups remain: the groups that it names,
 * or every column without a part in the PIVOT.
 */
const withoutValues = async ({ connection }: Session, ref: AstNode, source: AstNode, scope: Scope): Promise<AstNode> => {
  const used = new Set<string>()
  for (const part of [...nodesOf(ref, 'pivots'), ...nodesOf(ref, 'aggregates')])
    walk(part, (node) => {
      if (isColumnRef(node)) used.add(foldName(textsOf(node, 'column_names').at(-1) ?? ''))
      return true
    })
  const named = textsOf(ref, 'groups')
  const columns = named.length > 0 ? named : (await describe(connection, source, scope)).map(({ name }) => name)
  const left = columns.filter((name) => named.length > 0 || !used.has(foldName(name)))
  if (left.length === 0)
    throw new Problem('bad_statement', 'PIVOT has no columns', 'PIVOT finds no values, and has no other columns to show', {
      hint: 'List the values: PIVOT … ON x IN (…).',
    })
  const groups = selectNode(
    left.map((name) => columnRef(name)),
    source,
  )
  groups['modifiers'] = [{ type: 'DISTINCT_MODIFIER', distinct_on_targets: [] }]
  return subqueryRef(groups, textOf(ref, 'alias'), listOf(ref, 'column_name_alias'), ref['sample'] ?? null)
}

const modelsUsed = ({ run, served, staged }: Session) => run.uses.size + served.length + staged.length

/** Reads the text of a query, and rewrites it. */
type ReadValues = (text: Text, scope: Scope) => Promise<AstNode>

/** Adds the values of a PIVOT that lists none. Its source has been rewritten; `models` is the number of models that were used before it. */
const fillValues = async (session: Session, ref: AstNode, scope: Scope, read: ReadValues, models: number): Promise<void> => {
  const source = nodeOf(ref, 'source')
  const scored = modelsUsed(session) > models
  let empty = false
  for (const pivot of nodesOf(ref, 'pivots')) {
    const [value] = nodesOf(pivot, 'pivot_expressions')
    const name = textOf(pivot, 'pivot_enum')
    if (!isPivotValues(name) || !value || !source) continue
    const query = session.pivotQueries.get(name)
    if (!query && name !== pivotValues) throw pivotOfType()
    if (!query && scored)
      // Its rows would be scored twice: for the values, and for the answer.
      throw new Problem('refused_statement', 'PIVOT needs its values', 'PIVOT over a model needs its values', {
        hint: 'List them, PIVOT … ON x IN (…), or say where they are, IN (SELECT DISTINCT x FROM …).',
      })
    endBinding(session)
    const values = query ? await valuesOfQuery(session, await read(query, scope), scope) : await valuesOf(session, value, source, scope)
    pivot['entries'] = values.map(entryOf)
    pivot['pivot_enum'] = ''
    session.keep = false
    empty ||= values.length === 0
  }
  if (empty && source) become(ref, await withoutValues(session, ref, source, scope))
}

/** Begins to record the parts of the source of a PIVOT. The returned function adds the values that the PIVOT does not list. */
export const pivotFiller = (session: Session, read: ReadValues): ((ref: AstNode, scope: Scope) => Promise<void>) => {
  const models = modelsUsed(session)
  return (ref, scope) => fillValues(session, ref, scope, read, models)
}

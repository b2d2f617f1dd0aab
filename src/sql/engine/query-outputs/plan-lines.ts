/** An operator of DuckDB's plan, as `EXPLAIN (FORMAT json)` gives it. It has measures only if the query was run. */
type Operator = {
  name: string
  details: [key: string, value: string][]
  expected: string | undefined
  rows: number | undefined
  seconds: number | undefined
  children: Operator[]
}

const objectOf = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {})
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (Array.isArray(value) ? value.map(textOf).join(', ') : typeof value === 'string' ? value : '')
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** Details of an operator that are about this machine, or that another line shows. */
const unsaid = new Set(['Estimated Cardinality', 'Filename(s)', 'Total Files Read', 'Type', 'Text'])

const operatorOf = (value: unknown): Operator => {
  const node = objectOf(value)
  const of = (key: string): unknown => Reflect.get(node, key)
  const extra = Object.entries(objectOf(of('extra_info')))
  return {
    name: (textOf(of('name')) || textOf(of('operator_name'))).trim(),
    details: extra.map(([key, said]): [string, string] => [key, textOf(said)]).filter(([key, said]) => !unsaid.has(key) && said !== ''),
    expected: textOf(Object.fromEntries(extra)['Estimated Cardinality']) || undefined,
    rows: numberOf(of('operator_cardinality')),
    seconds: numberOf(of('operator_timing')),
    children: listOf(of('children')).map(operatorOf),
  }
}

/** DuckDB packs values before a sort or a join and unpacks them afterwards. These steps do not come from the user's text. */
const isPacking = ({ name, details }: Operator): boolean =>
  name === 'PROJECTION' && details.some(([, said]) => /__internal_(de)?compress/.test(said))

const countOf = ({ rows, seconds, expected }: Operator): string => {
  if (rows === undefined) return expected === undefined ? '' : ` · about ${expected} rows`
  const guess = expected === undefined ? '' : `, about ${expected} expected`
  return ` · ${rows} rows${guess} · ${((seconds ?? 0) * 1000).toFixed(1)} ms`
}

const lineOf = (operator: Operator): string => {
  const details = operator.details.map(([key, said]) => ` · ${key.toLowerCase()}: ${said.replace(/\s+/g, ' ')}`).join('')
  return operator.name + details + countOf(operator)
}

const linesBelow = (operator: Operator, depth: number): string[] => {
  if (isPacking(operator)) return operator.children.flatMap((child) => linesBelow(child, depth))
  return ['  '.repeat(depth) + lineOf(operator), ...operator.children.flatMap((child) => linesBelow(child, depth + 1))]
}

/**
 * DuckDB's plan as readable lines. An operator stands above its sources, which are indented further.
 *
 * @example planLines('[{"name": "SEQ_SCAN", "children": [], "extra_info": {"Table": "t", "Estimated Cardinality": "5"}}]')
 * // ['SEQ_SCAN · table: t · about 5 rows']
 */
export const planLines = (json: string): string[] => {
  const plan: unknown = JSON.parse(json)
  if (Array.isArray(plan)) return plan.flatMap((node) => linesBelow(operatorOf(node), 0))
  const seconds = numberOf(Reflect.get(objectOf(plan), 'latency'))
  // Statistics answer some queries, such as the count of a file's rows. Such a query has no steps that DuckDB could measure.
  if (seconds === undefined) return ['no steps were measured: the answer is known without reading rows']
  // The first operator is EXPLAIN ANALYZE itself.
  const steps = listOf(Reflect.get(objectOf(plan), 'children')).flatMap((node) => operatorOf(node).children)
  return [`${(seconds * 1000).toFixed(1)} ms in all`, ...steps.flatMap((step) => linesBelow(step, 0))]
}

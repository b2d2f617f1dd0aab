import { foldName } from '../../../../events/common.js'
import { numbersCompared } from '../../../connections/contract/number-texts.js'
import { NumberText, type AstNode } from '../ast/json.js'
import { childrenOf, isColumnRef, isEmpty, isLiteral, isQuery, nodeOf, nodesOf, partsOf, textOf, textsOf } from '../ast/nodes.js'
import { atPlace } from '../session/sources.js'
import { merged, relationOf, unknownShape, type Column, type Relation, type Shape } from './shapes.js'

/** What an expression sees: the tables of the FROM, the items before it, and what the query around sees. */
type Seen = { relations: readonly Relation[]; items: readonly Column[]; outer: Seen | undefined }

/** What one of several values is, so it is a number if they are. */
const picking = new Set(['any_value', 'arbitrary', 'first', 'last'])

/** Whether a node only casts a value, asks whether it is NULL, tells its type, or counts values. */
const comparesNothing = (node: AstNode, { numbers }: Column): boolean => {
  if (textOf(node, 'class') === 'CAST' || /^OPERATOR_IS_(?:NOT_)?NULL$/.test(textOf(node, 'type'))) return true
  const name = textOf(node, 'class') === 'FUNCTION' ? textOf(node, 'function_name') : ''
  return name === 'typeof' || (name === 'count' && (node['distinct'] !== true || numbers === 'fixed'))
}

/** The place in a list that a whole number means: `ORDER BY 2`. */
const placeIn = (node: AstNode): number | undefined => {
  const value = isLiteral(node) ? nodeOf(node, 'value')?.['value'] : undefined
  return value instanceof NumberText ? Number(value.text) - 1 : undefined
}

const refused = (column: Column, node: AstNode): unknown =>
  atPlace(numbersCompared(column.name, isColumnRef(node) ? textsOf(node, 'column_names').join('.') : column.name), node)

const refuseSome = (columns: readonly Column[], node: AstNode, isRefused: (column: Column) => boolean): void => {
  const column = columns.find((each) => each.numbers !== undefined && isRefused(each))
  if (column) throw refused(column, node)
}

const refuseAll = (columns: readonly Column[], node: AstNode): void => refuseSome(columns, node, () => true)

/** Refuses to group columns where equal numbers may have different texts. */
const refuseFree = (columns: readonly Column[], node: AstNode): void => refuseSome(columns, node, ({ numbers }) => numbers === 'free')

/** The columns of a table in a FROM; undefined if they are not known. */
type ColumnsOfRef = (ref: AstNode) => readonly Column[] | undefined

/** Follows columns of numbers that come as texts through a query, and refuses each use that would take them for texts. */
class NumberUses {
  readonly #ctes = new Map<string, Shape>()

  constructor(private readonly columnsOf: ColumnsOfRef) {}

  /** The columns that a query shows. */
  query(node: AstNode, outer?: Seen): Shape {
    for (const entry of nodesOf(nodeOf(node, 'cte_map') ?? {}, 'map')) {
      const value = nodeOf(entry, 'value') ?? {}
      this.#define(textOf(entry, 'key'), nodeOf(nodeOf(value, 'query') ?? {}, 'node'), textsOf(value, 'aliases'), outer)
    }
    switch (textOf(node, 'type')) {
      case 'SELECT_NODE':
        return this.#select(node, outer)
      case 'CTE_NODE': {
        this.#define(textOf(node, 'cte_name'), nodeOf(node, 'query'), textsOf(node, 'aliases'), outer)
        const child = nodeOf(node, 'child')
        return child ? this.query(child, outer) : unknownShape
      }
      default:
        return this.#combined(node, outer)
    }
  }

  #define(name: string, query: AstNode | undefined, aliases: readonly string[], outer: Seen | undefined): void {
    if (!query) return
    const { columns, isWhole } = this.query(query, outer)
    this.#ctes.set(foldName(name), { columns: columns.map((column, i) => ({ ...column, name: aliases[i] ?? column.name })), isWhole })
  }

  /** UNION and the like, and the parts of a recursive CTE, the second of which reads the first. */
  #combined(node: AstNode, outer: Seen | undefined): Shape {
    const sides = [...new Set([nodeOf(node, 'left'), nodeOf(node, 'right'), ...nodesOf(node, 'children')])].filter(
      (side) => side !== undefined,
    )
    const shapes: Shape[] = []
    for (const side of sides) {
      shapes.push(this.query(side, outer))
      const name = textOf(node, 'cte_name')
      if (name !== '' && shapes[0]) this.#ctes.set(foldName(name), shapes[0])
    }
    const shape = merged(shapes)
    const keepsAll = node['union_all'] === true || (node['setop_all'] === true && textOf(node, 'setop_type').startsWith('UNION'))
    if (!keepsAll) refuseAll(shape.columns, node)
    this.#modifiers(node, shape.columns, { relations: [], items: shape.columns, outer })
    return shape
  }

  #select(node: AstNode, outer: Seen | undefined): Shape {
    const from = nodeOf(node, 'from_table')
    const relations = from ? this.#relations(from, outer, []) : []
    const columns: Column[] = []
    const seen = { relations, items: columns, outer }
    let isWhole = true
    // An item may name the items before it.
    for (const item of nodesOf(node, 'select_list')) {
      const shape = this.#item(item, seen)
      columns.push(...shape.columns)
      isWhole &&= shape.isWhole
    }
    for (const key of ['where_clause', 'having', 'qualify']) {
      const part = nodeOf(node, key)
      if (part) this.#visit(part, seen)
    }
    this.#grouped(nodesOf(node, 'group_expressions'), columns, seen)
    // GROUP BY ALL
    if (textOf(node, 'aggregate_handling') === 'FORCE_AGGREGATES') refuseFree(columns, node)
    this.#modifiers(node, columns, seen)
    return { columns, isWhole }
  }

  #item(item: AstNode, seen: Seen): Shape {
    if (textOf(item, 'class') === 'STAR') return this.#star(item, seen)
    const column = this.#numberIn(item, seen)
    const isRow = isColumnRef(item) && !this.#find(textsOf(item, 'column_names'), seen)
    if (!column && !isRow) this.#visit(item, seen)
    const name = textOf(item, 'alias') || (textsOf(item, 'column_names').at(-1) ?? '')
    return { columns: [{ name, numbers: column?.numbers }], isWhole: true }
  }

  /** The columns of `*`, with their new names, and with the expressions that replace some of them. */
  #star(star: AstNode, seen: Seen): Shape {
    const relation = foldName(textOf(star, 'relation_name'))
    const shown = seen.relations.filter(({ alias }) => relation === '' || alias === relation)
    const left = [...textsOf(star, 'exclude_list'), ...nodesOf(star, 'qualified_exclude_list').map((key) => textOf(key, 'column'))]
    const excluded = new Set(left.map(foldName))
    const replaced = new Map(nodesOf(star, 'replace_list').map((entry) => [foldName(textOf(entry, 'key')), nodeOf(entry, 'value') ?? {}]))
    const renamed = new Map(
      nodesOf(star, 'rename_list').map((entry) => [foldName(textOf(nodeOf(entry, 'key') ?? {}, 'column')), textOf(entry, 'value')]),
    )
    const numbers = new Map([...replaced].map(([name, value]) => [name, this.#item(value, seen).columns[0]?.numbers]))
    const columns = shown
      .flatMap((each) => each.columns)
      .flatMap((column): Column[] => {
        const name = foldName(column.name)
        if (excluded.has(name)) return []
        return [{ name: renamed.get(name) ?? column.name, numbers: numbers.has(name) ? numbers.get(name) : column.numbers }]
      })
    const isPlain = star['columns'] !== true && isEmpty(star, 'expr')
    return { columns, isWhole: isPlain && shown.length === 1 && shown.every(({ isWhole }) => isWhole) }
  }

  /** The column of numbers whose values an expression gives unchanged. */
  #numberIn(node: AstNode, seen: Seen): Column | undefined {
    if (isColumnRef(node)) {
      const column = this.#find(textsOf(node, 'column_names'), seen)
      return column?.numbers === undefined ? undefined : column
    }
    const [child, more] = nodesOf(node, 'children')
    const isPicked = textOf(node, 'class') === 'FUNCTION' && picking.has(textOf(node, 'function_name')) && !nodeOf(node, 'filter')
    if (isPicked && child && !more && nodesOf(nodeOf(node, 'order_bys') ?? {}, 'orders').length === 0) return this.#numberIn(child, seen)
    const query = textOf(node, 'subquery_type') === 'SCALAR' ? nodeOf(nodeOf(node, 'subquery') ?? {}, 'node') : undefined
    const [column] = query ? this.query(query, seen).columns : []
    return column?.numbers === undefined ? undefined : column
  }

  /** The column that a name means. A name of an inner query is not looked for outside as long as an inner table may have it. */
  #find(names: readonly string[], { relations, items, outer }: Seen): Column | undefined {
    const [first = '', second] = names.map(foldName)
    const [table, name] = second === undefined ? [undefined, first] : [first, second]
    const named = table === undefined ? relations : relations.filter(({ alias }) => alias === table)
    const found = named.flatMap(({ byName }) => byName.get(name) ?? [])
    const column = found.find(({ numbers }) => numbers !== undefined) ?? found[0]
    if (column) return column
    const item = table === undefined ? items.find((each) => foldName(each.name) === name) : undefined
    if (item) return item
    const isInside = table === undefined ? relations.some(({ isWhole }) => !isWhole) : named.length > 0
    return outer && !isInside ? this.#find(names, outer) : undefined
  }

  /** Refuses each number that an expression takes for a text. */
  #visit(node: AstNode, seen: Seen): void {
    if (isLiteral(node)) return
    if (isQuery(node)) {
      this.query(node, seen)
      return
    }
    if (isColumnRef(node)) {
      const column = this.#find(textsOf(node, 'column_names'), seen)
      if (column?.numbers !== undefined) throw refused(column, node)
      // A table's own name is a row of all its columns.
      const [alias, more] = textsOf(node, 'column_names').map(foldName)
      const row = column || more !== undefined ? undefined : seen.relations.find((each) => each.alias === alias)
      if (row) refuseAll(row.columns, node)
      return
    }
    switch (textOf(node, 'class')) {
      case 'STAR':
        refuseAll(this.#star(node, seen).columns, node)
        return
      case 'SUBQUERY': {
        const inner = nodeOf(nodeOf(node, 'subquery') ?? {}, 'node')
        const shape = inner ? this.query(inner, seen) : unknownShape
        if (!/EXISTS$/.test(textOf(node, 'subquery_type'))) refuseAll(shape.columns, node)
        const compared = nodeOf(node, 'child')
        if (compared) this.#visit(compared, seen)
        return
      }
      default:
        for (const child of childrenOf(node)) {
          const column = this.#numberIn(child, seen)
          if (!column || !comparesNothing(node, column)) this.#visit(child, seen)
        }
    }
  }

  /** Groups take numbers whose texts are equal exactly if they are. */
  #grouped(expressions: readonly AstNode[], columns: readonly Column[], seen: Seen): void {
    for (const expression of expressions) {
      const place = placeIn(expression)
      const column = place === undefined ? this.#numberIn(expression, seen) : columns[place]
      if (column) refuseFree([column], expression)
      else this.#visit(expression, seen)
    }
  }

  /** A part of ORDER BY, where a name means an item before it means a column. */
  #ordered(expression: AstNode, columns: readonly Column[], seen: Seen): void {
    // ORDER BY ALL
    if (textOf(expression, 'class') === 'STAR') {
      refuseAll(columns, expression)
      return
    }
    const place = placeIn(expression)
    const [name, more] = isColumnRef(expression) ? textsOf(expression, 'column_names').map(foldName) : []
    const item = place === undefined ? columns.find((each) => more === undefined && foldName(each.name) === name) : columns[place]
    if (item) refuseAll([item], expression)
    else this.#visit(expression, seen)
  }

  /** ORDER BY, DISTINCT and LIMIT. */
  #modifiers(node: AstNode, columns: readonly Column[], seen: Seen): void {
    for (const modifier of nodesOf(node, 'modifiers')) {
      for (const order of nodesOf(modifier, 'orders')) this.#ordered(nodeOf(order, 'expression') ?? {}, columns, seen)
      const targets = nodesOf(modifier, 'distinct_on_targets')
      if (textOf(modifier, 'type') === 'DISTINCT_MODIFIER' && targets.length === 0) refuseFree(columns, node)
      this.#grouped(targets, columns, seen)
      for (const key of ['limit', 'offset']) {
        const part = nodeOf(modifier, key)
        if (part) this.#visit(part, seen)
      }
    }
  }

  /** The tables of a FROM; `before` are those on the left, which a table may use. */
  #relations(ref: AstNode, outer: Seen | undefined, before: readonly Relation[]): Relation[] {
    const seen = { relations: before, items: [], outer }
    switch (textOf(ref, 'type')) {
      case 'JOIN': {
        const [left, right] = [nodeOf(ref, 'left'), nodeOf(ref, 'right')]
        const first = left ? this.#relations(left, outer, before) : []
        const second = right ? this.#relations(right, outer, [...before, ...first]) : []
        this.#shared(ref, first, second)
        const condition = nodeOf(ref, 'condition')
        if (condition) this.#visit(condition, { ...seen, relations: [...before, ...first, ...second] })
        return [...first, ...second]
      }
      case 'SUBQUERY': {
        const query = nodeOf(nodeOf(ref, 'subquery') ?? {}, 'node')
        return [relationOf(ref, query ? this.query(query, seen) : unknownShape)]
      }
      case 'BASE_TABLE': {
        const columns = this.columnsOf(ref)
        const cte = partsOf(ref).length === 1 ? this.#ctes.get(foldName(textOf(ref, 'table_name'))) : undefined
        return [relationOf(ref, columns ? { columns, isWhole: true } : (cte ?? unknownShape))]
      }
      case 'PIVOT': {
        const source = nodeOf(ref, 'source')
        const relations = source ? this.#relations(source, outer, before) : []
        // It groups by all columns that it does not name.
        refuseAll(
          relations.flatMap(({ columns }) => columns),
          ref,
        )
        return [relationOf(ref, unknownShape)]
      }
      case 'SHOW_REF': {
        const query = nodeOf(ref, 'query')
        const { columns } = query ? this.query(query, seen) : unknownShape
        // SUMMARIZE shows the least and the greatest value.
        if (textOf(ref, 'show_type') === 'SUMMARY') refuseAll(columns, ref)
        return [relationOf(ref, unknownShape)]
      }
      default:
        for (const child of childrenOf(ref)) this.#visit(child, seen)
        return [relationOf(ref, unknownShape)]
    }
  }

  /** The columns that USING and NATURAL compare. */
  #shared(ref: AstNode, first: readonly Relation[], second: readonly Relation[]): void {
    const using = new Set(textsOf(ref, 'using_columns').map(foldName))
    const isNatural = textOf(ref, 'ref_type') === 'NATURAL'
    for (const [own, others] of [
      [first, second],
      [second, first],
    ] as const) {
      const mayHave = (name: string) => others.some(({ byName, isWhole }) => !isWhole || byName.has(name))
      const columns = own.flatMap((relation) => relation.columns)
      refuseSome(columns, ref, ({ name }) => using.has(foldName(name)) || (isNatural && mayHave(foldName(name))))
    }
  }
}

/**
 * Refuses a query that compares, orders or groups numbers as texts, because they come as texts (`AnswerColumn.numbers`). A cast says what a
 * query means.
 *
 * @example refuseNumberTexts(tree, (ref) => answers.columnsIn(textOf(ref, 'catalog_name'))) // throws for SELECT max(wide) FROM db.t
 * @throws Problem query_failed that names the column
 */
export const refuseNumberTexts = (query: AstNode, columnsOf: ColumnsOfRef): void => void new NumberUses(columnsOf).query(query)

import { existsSync } from 'node:fs'
import { foldName, unreachable } from '../../events/common.js'
import { erased, Problem } from '../errors.js'
import { limits } from '../limits.js'
import { refuseDatabase, refuseTables } from './aside.js'
import { cloneAst, type AstNode, type AstValue } from './ast/json.js'
import {
  become,
  childrenOf,
  integerConstant,
  isColumnRef,
  isLiteral,
  isNode,
  isQuery,
  isReference,
  listOf,
  nodeOf,
  nodesOf,
  nullConstant,
  placeOf,
  selectNode,
  star,
  subqueryRef,
  tableFunction,
  textConstant,
  textOf,
  textsOf,
  walk,
} from './ast/nodes.js'
import { template } from './ast/templates.js'
import type { ModelUse } from './models/references.js'
import { rewriteModels } from './models/select.js'
import { forgetNativeQuery, nativeDatabase } from './native-queries.js'
import { pivotFiller } from './pivots.js'
import { projectionRows } from './relations/projections.js'
import { databaseOfView, requireDatabase, resolveTable, type Found, type Place } from './resolve.js'
import type { FileEntry } from './directory.js'
import type { Scope } from './scope.js'
import type { Read, Session } from './session.js'
import { positionOfAt } from './time-travel.js'
import { PlacedProblem, placed, type Text } from './sources.js'
import type { ReadQuery } from './statement.js'

/** How a stored query's text becomes a tree that has passed every check. */
export type ReadStatement = (text: Text, db: string) => Promise<ReadQuery>

/** Turns names of tables into what they stand for, in a tree that has passed the guard. */
export class Rewriter {
  private ctes = 0

  constructor(
    private readonly session: Session,
    private readonly read: ReadStatement,
  ) {}

  /** Rewrites a query in place. */
  async query(node: AstNode, outer: Scope): Promise<void> {
    const scope = await this.withCtes(node, outer)
    switch (textOf(node, 'type')) {
      case 'SELECT_NODE':
        return this.select(node, scope)
      case 'RECURSIVE_CTE_NODE':
        return this.recursive(node, scope)
      default:
        return this.below(node, scope)
    }
  }

  /**
   * Each CTE sees those before it. All get names that nothing else has: a place where DuckDB would not see the CTE finds
   * nothing then, and never a table of the same name outside of the catalogue.
   */
  private async withCtes(node: AstNode, outer: Scope): Promise<Scope> {
    let scope = outer
    for (const entry of nodesOf(nodeOf(node, 'cte_map') ?? {}, 'map')) {
      const written = foldName(textOf(entry, 'key'))
      const unique = `ledger_cte_${++this.ctes}`
      this.session.ctes.set(unique, textOf(entry, 'key'))
      const query = nodeOf(nodeOf(nodeOf(entry, 'value') ?? {}, 'query') ?? {}, 'node')
      if (query) {
        if (textOf(query, 'type') === 'RECURSIVE_CTE_NODE') query['cte_name'] = unique
        await this.query(query, { ...scope, recursive: [written, unique] })
      }
      entry['key'] = unique
      scope = { ...scope, ctes: new Map([...scope.ctes, [written, unique]]), entries: [...scope.entries, entry] }
    }
    return scope
  }

  /** The first part of a recursive CTE does not see it, the second does. */
  private async recursive(node: AstNode, scope: Scope): Promise<void> {
    const { recursive, ...outside } = scope
    const inside = recursive ? { ...outside, ctes: new Map([...scope.ctes, recursive]) } : outside
    for (const [key, value] of Object.entries(node)) if (key !== 'cte_map') await this.value(value, key === 'right' ? inside : outside)
  }

  private async below(node: AstNode, scope: Scope): Promise<void> {
    for (const [key, value] of Object.entries(node)) if (key !== 'cte_map') await this.value(value, scope)
  }

  /** Finds queries and tables wherever they stand. */
  private async value(value: AstValue, scope: Scope): Promise<void> {
    if (Array.isArray(value)) for (const item of value) await this.value(item, scope)
    else if (isNode(value)) {
      // Most of a long statement are constants and columns, which hold nothing to rewrite.
      if (isLiteral(value) || isColumnRef(value)) return
      if (isQuery(value)) await this.query(value, scope)
      else if (isReference(value)) await this.reference(value, scope, [])
      else await this.below(value, scope)
    }
  }

  private async select(node: AstNode, scope: Scope): Promise<void> {
    this.dropSchemas(node)
    const from = nodeOf(node, 'from_table')
    const models: ModelUse[] = []
    if (from) await this.reference(from, scope, models)
    for (const [key, value] of Object.entries(node)) if (key !== 'from_table' && key !== 'cte_map') await this.value(value, scope)
    if (models.length > 0) await rewriteModels(this.session, node, models, scope)
  }

  /** `SELECT shop.skills.name FROM shop.skills`: the table is known by its own name behind the rewriting. */
  private dropSchemas(node: AstNode): void {
    const from = nodeOf(node, 'from_table')
    const paths: string[][] = []
    if (from)
      walk(from, (ref) => {
        if (textOf(ref, 'type') === 'BASE_TABLE' && textOf(ref, 'schema_name') !== '' && textOf(ref, 'alias') === '')
          paths.push(partsOf(ref).map(foldName))
        return !isQuery(ref)
      })
    if (paths.length === 0) return
    walk(node, (column) => {
      if (!isColumnRef(column)) return true
      const names = textsOf(column, 'column_names')
      const path = paths.find((parts) => names.length > parts.length && parts.every((part, i) => part === foldName(names[i] ?? '')))
      if (path) column['column_names'] = names.slice(path.length - 1)
      return true
    })
  }

  private async reference(ref: AstNode, scope: Scope, models: ModelUse[]): Promise<void> {
    switch (textOf(ref, 'type')) {
      case 'BASE_TABLE':
        return this.table(ref, scope, models).catch((error: unknown) => {
          throw placed(error, ref)
        })
      case 'JOIN': {
        const [left, right, condition] = [nodeOf(ref, 'left'), nodeOf(ref, 'right'), nodeOf(ref, 'condition')]
        if (left) await this.reference(left, scope, models)
        if (right) await this.reference(right, scope, models)
        return condition && this.value(condition, scope)
      }
      case 'PIVOT':
        return this.pivot(ref, scope)
      case 'SUBQUERY':
        return this.subquery(ref, scope)
      default:
        return this.below(ref, scope)
    }
  }

  /** A query for another database sees what is there, and nothing of the statement around it. */
  private async subquery(ref: AstNode, scope: Scope): Promise<void> {
    const database = nativeDatabase(ref)
    if (database === undefined) return this.below(ref, scope)
    forgetNativeQuery(ref)
    if (this.session.isAside) refuseDatabase(database)
    await requireDatabase(this.place(scope), database)
    return this.below(ref, { ...scope, db: database, ctes: new Map(), entries: [] })
  }

  private place({ db, position }: Scope): Place {
    return { directory: this.session.directory, db, position, head: this.session.head }
  }

  private async pivot(ref: AstNode, scope: Scope): Promise<void> {
    const models: ModelUse[] = []
    const fillValues = pivotFiller(this.session, (text, where) => this.valuesOfPivot(text, where))
    const source = nodeOf(ref, 'source')
    if (source) await this.reference(source, scope, models)
    const [model] = models
    if (model) throw pivotedModel(model)
    for (const child of childrenOf(ref)) if (child !== source) await this.value(child, scope)
    await fillValues(ref, scope)
  }

  /** The query behind PIVOT … IN: it sees what the PIVOT sees. */
  private async valuesOfPivot(text: Text, scope: Scope): Promise<AstNode> {
    const { tree } = await this.read(text, scope.db)
    await this.query(tree, scope)
    return tree
  }

  private async table(ref: AstNode, scope: Scope, models: ModelUse[]): Promise<void> {
    const parts = partsOf(ref)
    const at = nodeOf(ref, 'at_clause')
    const [name = ''] = parts
    const cte = parts.length === 1 ? scope.ctes.get(foldName(name)) : undefined
    if (cte !== undefined) {
      if (at)
        throw new Problem('bad_statement', 'AT needs a table', `AT cannot be applied to ${name}, which WITH defines`, {
          hint: 'Write AT behind the tables inside it.',
        })
      ref['alias'] = textOf(ref, 'alias') || name
      ref['table_name'] = cte
      return
    }
    if (this.session.isAside) refuseTables(parts, scope.db, at !== undefined)
    const clock = { connection: this.session.connection, directory: this.session.directory, head: this.session.head }
    const position = at ? await positionOfAt(clock, at) : scope.position
    if (at && textOf(at, 'unit').toUpperCase() !== 'VERSION') this.session.keep = false
    const found = await resolveTable(this.place({ ...scope, position }), parts)
    if (found.kind === 'model') {
      models.push(await this.model(ref, found, scope))
      return
    }
    const query = await this.expanded(found, { ...scope, position })
    this.session.reads.push(readOf(found, query, parts, { db: scope.db, position }))
    const alias = textOf(ref, 'alias') || (parts.at(-1) ?? '')
    become(ref, { ...subqueryRef(query, alias, listOf(ref, 'column_name_alias'), ref['sample'] ?? null), ...placeOf(ref) })
  }

  private async model(ref: AstNode, { model, version, project }: Extract<Found, { kind: 'model' }>, { options }: Scope): Promise<ModelUse> {
    const artefact = version.artefact ?? ''
    const bound = {
      model: await this.session.load(artefact),
      artefact,
      stream: model.stream,
      version: version.version,
      label: `${project.name}.${model.name}`,
      ...(options.level !== undefined && { level: options.level }),
    }
    const alias = textOf(ref, 'alias') || model.name
    return { ref, alias, bound }
  }

  /** The query that gives what a name stands for. */
  private async expanded(found: Exclude<Found, { kind: 'model' }>, scope: Scope): Promise<AstNode> {
    switch (found.kind) {
      case 'relation':
        return template(this.session.connection, found.relation.sql, {
          position: integerConstant(scope.position),
          project: found.project ? textConstant(found.project.stream) : nullConstant(),
          ...(found.relation.live === true && { projections: this.now() }),
          ...(found.relation.ofViews === true && { views: textConstant(await this.session.viewColumns(scope.position)) }),
        })
      case 'file':
        return this.file(found.file)
      case 'view':
        return this.view(found, scope)
      default:
        return unreachable(found)
    }
  }

  private async file({ name, content }: FileEntry): Promise<AstNode> {
    const path = `${this.session.blobsDirectory}/${content}`
    if (!existsSync(path)) {
      const erasure = await this.session.directory.erasure(content)
      if (erasure)
        throw erased(`The content of files.${name}`, erasure, 'Upload it again, or read another content: files.name AT (VERSION => …).')
    }
    return selectNode([star('')], tableFunction('read_parquet', textConstant(path)))
  }

  /** How things stand changes without the log: what is rewritten with it is not kept. */
  private now(): AstNode {
    this.session.keep = false
    return textConstant(projectionRows(this.session.tables))
  }

  private async view({ view, project }: Extract<Found, { kind: 'view' }>, scope: Scope): Promise<AstNode> {
    const label = `${project.name}.${view.name}`
    if (scope.views.includes(view.stream)) throw new Problem('query_failed', 'A view contains itself', `View ${label} contains itself`)
    if (scope.views.length >= limits.viewMaxDepth)
      throw new Problem('query_limit', 'Views are nested too deeply', `View ${label} is nested in more than ${limits.viewMaxDepth} others`)
    try {
      const db = await databaseOfView(this.place(scope), view, project)
      const { tree: body, options } = await this.read({ sql: view.query, view: label }, db)
      await this.query(body, {
        db,
        position: scope.position,
        ctes: new Map(),
        entries: [],
        views: [...scope.views, view.stream],
        options: { ...scope.options, ...options },
      })
      return cloneAst(body)
    } catch (error) {
      if (!(error instanceof Problem) || error instanceof PlacedProblem || error.detail.startsWith('In view ')) throw error
      throw new Problem(error.code, error.title, `In view ${label}: ${error.detail}`, error.extras)
    }
  }
}

/** A model in the place of a PIVOT's table: what to write instead, with the model's own names. */
const pivotedModel = ({ bound: { label, model } }: ModelUse): Problem => {
  const target = model.target.name
  const column = model.inputs[0]?.name ?? 'x'
  return new Problem('refused_statement', 'A model cannot be pivoted', `Model ${label} cannot be pivoted: it has no rows of its own`, {
    hint: `Score a table first: PIVOT (SELECT t.${column}, m.${target} FROM files.your_table AS t JOIN ${label} AS m) ON ${column} IN (…) USING max(${target}).`,
  })
}

const readOf = (
  found: Exclude<Found, { kind: 'model' }>,
  query: AstNode,
  parts: readonly string[],
  { db, position }: { db: string; position: number },
): Read => {
  switch (found.kind) {
    case 'file':
      return { name: `files.${found.file.name}`, query, state: `content ${found.file.content}` }
    case 'view':
      return { name: `${found.project.name}.${found.view.name}`, query, state: 'a view, expanded' }
    case 'relation': {
      const schema = found.project?.name ?? (parts.length > 1 ? parts[0] : db) ?? db
      return { name: `${schema}.${found.relation.name}`, query, state: `as of position ${position}` }
    }
    default:
      return unreachable(found)
  }
}

const partsOf = (ref: AstNode): string[] =>
  [textOf(ref, 'catalog_name'), textOf(ref, 'schema_name'), textOf(ref, 'table_name')].filter((part) => part !== '')

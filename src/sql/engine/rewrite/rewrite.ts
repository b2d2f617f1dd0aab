/**
 * Room: the rewriting of a query with resolved names into one that DuckDB can run. It imports only events, basics, dialect, sql/relations,
 * sql/contract and sql/engine.
 */

import { foldName } from '../../../../events/common.js'
import { Problem } from '../../../basics/errors.js'
import { answerAgents } from '../agents/agent-answers.js'
import type { AstNode, AstValue } from '../ast/json.js'
import { childrenOf, isColumnRef, isLiteral, isNode, isQuery, isReference, listOf, nodeOf, nodesOf, partsOf, textOf } from '../ast/nodes.js'
import { valuesOfSubquery, type ComparedSubquery } from '../knowledge/values-of-subquery.js'
import { asksLatest } from '../models/latest.js'
import type { ModelUse } from '../models/references.js'
import { rewriteModels } from '../models/rewrite-models.js'
import { pivotFiller } from '../read/pivots.js'
import type { ReadQuery } from '../read/read-query.js'
import type { AllowedTables } from '../resolve/allowed.js'
import { positionOfAt } from '../resolve/as-of-position.js'
import { forgetNativeQuery, nativeDatabase } from '../resolve/native-queries.js'
import { refusePast, requireDatabase, resolveTable, type TableMeaning } from '../resolve/resolve.js'
import type { Reader, Scope } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { atPlace, type Text } from '../session/sources.js'
import { LastInQuery } from './last-in-query.js'
import {
  expand,
  placeIn,
  readOf,
  dropSchemas,
  hasSeries,
  namesTaken,
  nothingYet,
  placeAllRows,
  placeNatives,
  placeRows,
  putQuery,
  bindAlone,
  type DeferredReferences,
} from './names-in-from.js'

/** Reads the text of a query into a tree that has passed every check. */
export type ReadStatement = (text: Text, db: string) => Promise<ReadQuery>

/** Replaces names of tables with their relations, in a tree that has passed the guard. */
export class Rewriter {
  private ctes = 0
  /** Queries that were rewritten before the walk reached them. */
  private readonly done = new WeakSet<AstNode>()

  constructor(
    private readonly session: Session,
    private readonly read: ReadStatement,
  ) {}

  /** Rewrites a query in place. */
  async query(node: AstNode, { reader, ...outer }: Scope): Promise<void> {
    if (this.done.has(node)) return
    const scope = await this.withCtes(node, outer)
    switch (textOf(node, 'type')) {
      case 'SELECT_NODE':
        return this.select(node, scope, reader)
      case 'RECURSIVE_CTE_NODE':
        return this.recursive(node, scope)
      default:
        return this.below(node, scope)
    }
  }

  /**
   * Each CTE sees the CTEs before it. All CTEs get unique names. If DuckDB does not see a CTE at some place, it finds no table there, and
   * never a table of the same name outside of the catalogue.
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

  /** The first part of a recursive CTE does not see the CTE; the second part does. */
  private async recursive(node: AstNode, scope: Scope): Promise<void> {
    const { recursive, ...outside } = scope
    const inside = recursive ? { ...outside, ctes: new Map([...scope.ctes, recursive]), itself: recursive[1] } : outside
    for (const [key, value] of Object.entries(node)) if (key !== 'cte_map') await this.value(value, key === 'right' ? inside : outside)
  }

  private async below(node: AstNode, scope: Scope): Promise<void> {
    for (const [key, value] of Object.entries(node)) if (key !== 'cte_map') await this.value(value, scope)
  }

  /** Finds all queries and tables at any depth. */
  private async value(value: AstValue, scope: Scope): Promise<void> {
    if (Array.isArray(value)) for (const item of value) await this.value(item, scope)
    else if (isNode(value)) {
      // Most of a long statement is constants and columns, which contain nothing to rewrite.
      if (isLiteral(value) || isColumnRef(value)) return
      if (isQuery(value)) await this.query(value, scope)
      else if (isReference(value)) await this.alone(value, scope)
      else await this.below(value, scope)
    }
  }

  /** A table outside of a SELECT's own FROM. */
  private async alone(ref: AstNode, scope: Scope): Promise<void> {
    const later = nothingYet()
    await this.reference(ref, scope, later)
    await placeAllRows(this.session, later)
  }

  private async select(node: AstNode, scope: Scope, reader?: Reader): Promise<void> {
    dropSchemas(node)
    const from = nodeOf(node, 'from_table')
    const later = nothingYet()
    const last = this.lastIn(node)
    await last?.fillKnown()
    if (from) await this.reference(from, { ...scope, select: node }, later)
    const models = new Set(later.models.map(({ ref }) => ref))
    const all = { select: node, reader, keepsRows: last !== undefined, models, taken: namesTaken(later) }
    const use = hasSeries(later) ? undefined : all
    // These come first: tables that are fetched afterwards contain the rows that such a statement writes.
    await placeNatives(this.session, later, use)
    await last?.fillFirst(later, scope)
    await placeRows(this.session, later, use, { select: node, valuesOf: (subquery) => this.valuesOf(subquery, scope) })
    await last?.note(later, scope)
    for (const [key, value] of Object.entries(node)) if (key !== 'from_table' && key !== 'cte_map') await this.value(value, scope)
    if (later.agents.length > 0) await answerAgents(this.session, node, later.agents, scope)
    if (later.models.length > 0) await rewriteModels(this.session, node, later.models, scope)
  }

  /** The values of a query in WHERE, which is rewritten for that. */
  private async valuesOf(subquery: ComparedSubquery, scope: Scope): Promise<string[] | undefined> {
    await this.query(subquery.query, scope)
    this.done.add(subquery.query)
    return valuesOfSubquery(this.session, subquery, scope)
  }

  private lastIn(select: AstNode): LastInQuery | undefined {
    if (!this.session.last) return undefined
    const last = new LastInQuery(this.session, this.session.last, select)
    return last.isUsed ? last : undefined
  }

  private async reference(ref: AstNode, scope: Scope, later: DeferredReferences): Promise<void> {
    switch (textOf(ref, 'type')) {
      case 'BASE_TABLE':
        return this.table(ref, scope, later).catch((error: unknown) => {
          throw atPlace(error, ref)
        })
      case 'JOIN': {
        const [left, right, condition] = [nodeOf(ref, 'left'), nodeOf(ref, 'right'), nodeOf(ref, 'condition')]
        if (left) await this.reference(left, scope, later)
        if (right) await this.reference(right, scope, later)
        return condition && this.value(condition, scope)
      }
      case 'PIVOT':
        return this.pivot(ref, scope)
      case 'SUBQUERY':
        return this.subquery(ref, scope)
      case 'SHOW_REF':
        return this.shown(ref, scope)
      default:
        return this.below(ref, scope)
    }
  }

  /** A query for another database sees the tables of that database, and nothing of the outer statement. */
  private async subquery(ref: AstNode, scope: Scope): Promise<void> {
    const database = nativeDatabase(ref)
    if (database === undefined) return this.below(ref, { ...scope, reader: readerOf(ref, scope) })
    this.allowedIn(scope)?.refuseForm(`FROM ${database} (…)`, 'Name the table: SELECT … FROM database.table.')
    forgetNativeQuery(ref)
    await requireDatabase(placeIn(this.session, scope), database)
    return this.below(ref, { ...scope, db: database, ctes: new Map(), entries: [] })
  }

  /** DESCRIBE shows the columns of a query. It asks no agent for them, and fetches no rows from connected databases. */
  private async shown(ref: AstNode, scope: Scope): Promise<void> {
    const { isPlanned } = this.session
    if (textOf(ref, 'show_type') === 'DESCRIBE') this.session.isPlanned = true
    try {
      await this.below(ref, scope)
    } finally {
      this.session.isPlanned = isPlanned
    }
  }

  /** The tables that a scope may name: a view may name all tables. */
  private allowedIn({ views }: Scope): AllowedTables | undefined {
    return views.length === 0 ? this.session.allowed : undefined
  }

  private async pivot(ref: AstNode, scope: Scope): Promise<void> {
    const later = nothingYet()
    const fillValues = pivotFiller(this.session, (text, where) => this.valuesOfPivot(text, where))
    const source = nodeOf(ref, 'source')
    if (source) await this.reference(source, scope, later)
    const [model] = later.models
    if (model) throw pivotedModel(model)
    await placeAllRows(this.session, later)
    for (const child of childrenOf(ref)) if (child !== source) await this.value(child, scope)
    await fillValues(ref, scope)
  }

  /** The query behind PIVOT … IN. It sees the same tables as the PIVOT. */
  private async valuesOfPivot(text: Text, scope: Scope): Promise<AstNode> {
    const { tree } = await this.read(text, scope.db)
    await this.query(tree, scope)
    return tree
  }

  /** The query behind a view, which may have its own options for its models. */
  private async viewBody(text: Text, scope: Scope): Promise<AstNode> {
    const { tree, options, hasQuoted } = await this.read(text, scope.db)
    await this.query(tree, { ...scope, options: { ...scope.options, ...options } })
    if (hasQuoted) await bindAlone(this.session, tree)
    return tree
  }

  private async table(ref: AstNode, scope: Scope, later: DeferredReferences): Promise<void> {
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
    const allowed = this.allowedIn(scope)
    if (at) allowed?.refuseForm('AT', 'Read the tables as they are: leave AT out.')
    const native = parts.length === 1 ? this.session.natives.get(name) : undefined
    if (native) {
      allowed?.refuseForm('A statement in the language of a connected database', 'Name the table: SELECT … FROM database.table.')
      refusePast(native.connection, placeIn(this.session, scope))
      later.natives.push({ ref, native })
      return
    }
    const { connection, directory, head, askedAt } = this.session
    const clock = { connection, directory, head, askedAt }
    const position = at ? await positionOfAt(clock, at) : scope.position
    if (at && textOf(at, 'unit').toUpperCase() !== 'VERSION') this.session.keep = false
    const resolve = (name: string[]) => resolveTable(placeIn(this.session, { ...scope, position }), name)
    const found = await (allowed ? allowed.meaning(parts, scope.db, resolve) : resolve(parts))
    const { erasable, filesNow } = this.session
    if (found.kind === 'file') erasable.contents.add(found.file.content)
    if (found.kind === 'file' && position === head) filesNow.set(foldName(found.file.name), found.file.content)
    if (found.kind === 'relation' || found.kind === 'knowledge' || found.kind === 'agent') erasable.records = true
    if (found.kind === 'model') {
      later.models.push(await this.model(ref, found, scope))
      return
    }
    if (found.kind === 'agent') {
      const label = `${found.project.name}.${found.agent.name}`
      const at = position === this.session.head ? undefined : position
      later.agents.push({ ref, alias: textOf(ref, 'alias') || found.agent.name, agent: found.agent.stream, label, at })
      return
    }
    if (found.kind === 'connected') {
      later.connected.push({ ref, found })
      return
    }
    if (found.kind === 'knowledge') {
      later.knowledge.push({ ref, base: found, label: `${found.project.name}.${found.name}`, position })
      return
    }
    const query = await expand(
      found,
      { ...scope, position },
      { session: this.session, viewBody: (text, inside) => this.viewBody(text, { ...inside, reader: readerOf(ref, scope) }), ref },
    )
    this.session.reads.push(readOf(found, query, parts, { db: scope.db, position }))
    putQuery(ref, query, parts.at(-1) ?? '')
  }

  private async model(
    ref: AstNode,
    { model, version, project }: Extract<TableMeaning, { kind: 'model' }>,
    { options }: Scope,
  ): Promise<ModelUse> {
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
}

/**
 * The reader of the rows of a query in a FROM; undefined if it does not see the rows unchanged, or asks for those after the last ones: its
 * conditions are about rows that the query does not have.
 */
const readerOf = (ref: AstNode, { select }: Scope): Reader | undefined =>
  select && !asksLatest(select) && listOf(ref, 'column_name_alias').length === 0 && nodeOf(ref, 'sample') === undefined
    ? { select, ref }
    : undefined

/** Refuses a model in the place of a PIVOT's table, and shows the correct form with the model's own names. */
const pivotedModel = ({ bound: { label, model } }: ModelUse): Problem => {
  const target = model.target.name
  const column = model.inputs[0]?.name ?? 'x'
  return new Problem('refused_statement', 'A model cannot be pivoted', `Model ${label} cannot be pivoted: it has no rows of its own`, {
    hint: `Score a table first: PIVOT (SELECT t.${column}, m.${target} FROM files.your_table AS t JOIN ${label} AS m) ON ${column} IN (…) USING max(${target}).`,
  })
}

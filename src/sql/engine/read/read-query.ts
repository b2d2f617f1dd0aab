/** Room: from a text to a checked tree. It imports only events, basics, dialect, sql/contract and sql/engine. */

import type { Problem } from '../../../basics/errors.js'
import { missingConditions, splitUsing, offsetLimits, misplacedAt } from '../../../dialect/client-syntax.js'
import { badStatement, lex, splitSingle, type Token } from '../../../dialect/lexer.js'
import { isWord } from '../../../dialect/tokens.js'
import { ParseFailure, parseSelect } from '../ast/checked-text.js'
import type { AstNode } from '../ast/json.js'
import { locationOf } from '../ast/nodes.js'
import { explainParseFailure } from '../errors/explain-error.js'
import { answerUser } from '../errors/session-user.js'
import { guard, pivotValues } from '../guard/guard.js'
import { cutNativeStatements, refusalOfCall } from '../resolve/connections.js'
import { markNativeQueries, nativeQueries, nativeSpelling } from '../resolve/native-queries.js'
import { readScoringOptions, type ScoringOptions } from '../scoring/options.js'
import type { Session } from '../session/session.js'
import type { Text } from '../session/sources.js'
import { translate, type Translation } from '../session/translation.js'
import { nameItems } from './item-names.js'
import { markLast } from './mark-last.js'
import { normalise } from './normalise.js'
import { missingValues, valueQueries } from './pivots.js'

type ParsedQuery = { translation: Translation; tree: AstNode; hasNativeQueries: boolean }

/** A query that has passed every check, the options that it gives its models, and whether it has anything in double quotes. */
export type ReadQuery = { tree: AstNode; options: ScoringOptions; hasQuoted: boolean }

/** Texts to insert behind tokens, and texts that replace tokens. */
type Changes = { added: ReadonlyMap<number, string>; cut: ReadonlyMap<number, string> }
const asWritten: Changes = { added: new Map(), cut: new Map() }

const parseAs = async (session: Session, sql: string, tokens: Token[], { added, cut }: Changes): Promise<ParsedQuery> => {
  const natives = nativeQueries(tokens)
  const { after, instead } = nativeSpelling(natives)
  for (const [place, text] of added) after.set(place, (after.get(place) ?? '') + text)
  for (const [place, text] of cut) {
    after.delete(place)
    instead.set(place, text)
  }
  const translation = translate(sql, tokens, session.params, after, instead)
  try {
    return { translation, tree: await parseSelect(session.connection, translation.text), hasNativeQueries: natives.length > 0 }
  } catch (error) {
    if (!(error instanceof ParseFailure)) throw error
    const offset = error.characters === undefined ? undefined : translation.userOffsetOfCharacter(error.characters)
    const misplaced = offset === undefined ? undefined : misplacedAt(sql, tokens, offset)
    throw misplaced ?? explainParseFailure(error, translation)
  }
}

/** The refusal of a query in the language of a connection, if the statement has one. */
type Refusal = () => Promise<Problem | undefined>

/** Takes the queries behind PIVOT … IN out of a text. Their values are computed during the rewriting. */
const cutValueQueries = (session: Session, { sql, view }: Text, tokens: Token[]): Map<number, string> => {
  const cut = new Map<number, string>()
  for (const { open, close } of valueQueries(tokens)) {
    const inner = tokens.slice(open + 1, close)
    const parameter = inner.find(({ kind, value }) => kind === 'parameter' && value === '')
    if (parameter) throw badStatement(sql, parameter.start, 'a query behind PIVOT … IN has no ? in it', 'Name the parameter: :name.')
    const name = `${pivotValues}_${session.pivotQueries.size + 1}`
    session.pivotQueries.set(name, {
      sql,
      within: { start: inner[0]?.start ?? 0, end: inner.at(-1)?.end ?? 0 },
      ...(view !== undefined && { view }),
    })
    for (let index = open; index <= close; index++) cut.set(index, index === open ? name : '')
  }
  return cut
}

/** DuckDB can read a statement without any of these words unchanged. */
const isOwnWord = (token: Token): boolean => isWord(token, 'JOIN', 'USING', 'LIMIT', 'PIVOT', 'PIVOT_WIDER')

/** A statement with forms that DuckDB does not read, and the text that replaces them. */
type OwnForms = { query: Token[]; options: Token[]; changes: Changes; hasValueQueries: boolean }

/**
 * Finds the forms that DuckDB does not read: JOIN of a model without ON, USING at the end, PIVOT that finds its values or takes them from a
 * query, and MySQL's LIMIT. Undefined if a statement has none of them.
 */
const ownForms = (session: Session, text: Text, tokens: Token[]): OwnForms | undefined => {
  if (!tokens.some(isOwnWord)) return undefined
  const { query, options } = splitUsing(tokens)
  const added = new Map([...missingConditions(query), ...missingValues(query)])
  const values = cutValueQueries(session, text, query)
  const cut = new Map([...values, ...offsetLimits(query)])
  if (options.length === 0 && added.size === 0 && cut.size === 0) return undefined
  return { query, options, changes: { added, cut }, hasValueQueries: values.size > 0 }
}

/**
 * Parses a text. Forms that DuckDB does not read are first replaced by DuckDB's own. If the result does not parse, the original text is
 * parsed: its words may only look like one of our forms. Otherwise the error is about the user's own text.
 */
const parse = async (
  session: Session,
  text: Text,
  tokens: Token[],
  refusal: Refusal,
): Promise<ParsedQuery & { options: ScoringOptions }> => {
  const forms = ownForms(session, text, tokens)
  const asSent = async () => ({ ...(await parseAs(session, text.sql, tokens, asWritten)), options: {} })
  const refuse = async (error: unknown): Promise<never> => {
    throw (await refusal()) ?? error
  }
  if (!forms) return asSent().catch(refuse)
  const read = await parseAs(session, text.sql, forms.query, forms.changes).catch((error: unknown) =>
    asSent().catch((first: unknown) => refuse(forms.hasValueQueries ? error : first)),
  )
  return 'options' in read ? read : { ...read, options: readScoringOptions(forms.options) }
}

/** Returns a function that says whether a name has double quotes in the original text. */
const quotedIn = (translation: Translation): ((node: AstNode) => boolean) => {
  const starts = new Set(translation.tokens.flatMap(({ kind, start }) => (kind === 'quoted' ? [start] : [])))
  return (node) => {
    const location = locationOf(node)
    return location !== undefined && starts.has(translation.userOffset(location))
  }
}

/**
 * Reads the text of a query, the user's or a view's: one statement, parsed, checked by the guard, with names for its items.
 * The tree still has the user's names of tables.
 */
export const readQuery = async (session: Session, text: Text, db: string): Promise<ReadQuery> => {
  const { sql, within, view } = text
  const all = lex(sql)
  const written = splitSingle(within ? all.filter(({ start, end }) => start >= within.start && end <= within.end) : all, sql)
  const { directory, head: position, natives } = session
  const mayWrite = view === undefined && session.mayWrite
  const cut = await cutNativeStatements({ directory, position, natives, mayWrite }, written, sql)
  // LAST has a meaning only in the statement of the job, not in a view that it reads.
  const tokens = view === undefined && session.last ? markLast(cut, session.last) : cut
  for (const token of tokens) if (token.kind === 'quoted') session.quoted.add(token.value)
  // A client with restricted tables gets no information about connections.
  const refusal: Refusal = async () => (session.allowed ? undefined : refusalOfCall(session.directory, session.head, tokens, sql))
  const { translation, tree, options, hasNativeQueries } = await parse(session, text, tokens, refusal)
  // Without native queries, the name that replaces them can only come from the user, and has no special meaning.
  if (hasNativeQueries) {
    const refused = await refusal()
    if (refused) throw refused
    markNativeQueries(tree)
  }
  await answerUser(session, tree, quotedIn(translation))
  session.sources.add({ translation, view }, tree)
  normalise(tree, { db, strings: session.strings })
  try {
    guard(tree)
  } catch (error) {
    // A native query that is also a valid expression looks like the call of a function.
    throw (await refusal()) ?? error
  }
  await nameItems(session.connection, tree)
  return { tree, options, hasQuoted: tokens.some(({ kind }) => kind === 'quoted') }
}

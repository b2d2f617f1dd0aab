import { editDistance } from '../../basics/nearest.js'
import type { Cursor, LeadingWords } from './cursor.js'
import type { Statement, StatementKind } from './statement.js'

/** How statements are written, each under its first words. Refusals show the nearest one. */
export type Usages = Readonly<Record<string, string>>

/**
 * The words that may follow a verb, each with the way its statement is written. Null means that refusals do not show it, as for a second
 * name of the same statement.
 */
export type Nouns = Readonly<Record<string, string | null>>

/**
 * The first words of a statement, how it is written, and the function that reads the rest. Without nouns, any word may follow the verb, and
 * `usages` is empty if refusals show none.
 */
export type Form = {
  verb: string
  /** OR REPLACE may come between the verb and the noun. */
  orReplace?: true
  /** Whether the words have this meaning at their place; they may also be a name. */
  when?: (cursor: Cursor) => boolean
  take: (cursor: Cursor, begun: LeadingWords) => Statement
} & ({ nouns: Nouns } | { nouns?: never; usages: Usages })

/**
 * The effect of a statement. A query returns rows, and its rows can decide whether a job runs. Queries and other reading statements can
 * read at a past position. All other statements write.
 */
export type Effect = 'query' | 'reads' | 'writes'

/** One kind of statement: its effect, and its forms or the kind with the same forms. A query has no form, because DuckDB reads it. */
export type Entry = { effect: Effect } & ({ forms: readonly [Form, ...Form[]] | StatementKind } | { forms?: never; usages: Usages })

/** The kinds of statements that one file reads. */
export type Topic = { readonly [K in StatementKind]?: Entry }

/** Nouns of statements that differ in nothing else. @example sameUsage(['PROJECT', 'DATABASE'], (noun) => `DROP ${noun} name`) */
export const sameUsage = (nouns: readonly string[], usage: (noun: string) => string): Nouns =>
  Object.fromEntries(nouns.map((noun) => [noun, usage(noun)]))

/** The usages of a form. Of a noun with several words, as in `CREATE INDEX ON KNOWLEDGE_BASE`, the first one is enough. */
const usagesOfForm = (form: Form): [head: string, usage: string][] =>
  form.nouns
    ? Object.entries(form.nouns).flatMap(([noun, usage]) => (usage === null ? [] : [[`${form.verb} ${noun.replace(/ .*/, '')}`, usage]]))
    : Object.entries(form.usages)

/** All usages of these entries, in their order. */
export const usagesOf = (entries: readonly Entry[]): Usages =>
  Object.fromEntries(
    entries.flatMap((entry) => {
      if (entry.forms === undefined) return Object.entries(entry.usages)
      return typeof entry.forms === 'string' ? [] : entry.forms.flatMap(usagesOfForm)
    }),
  )

/** Words that may occur in a head without being part of it. */
const fillers = new Set(['OR', 'REPLACE', 'FULL', 'EXTENDED'])

/**
 * The syntax of the statement that probably should begin with these words. A wrong second word counts less than a wrong first word: `CREATE
 * AGNET` is an agent.
 *
 * @example nearestUsage(['CREAT', 'AGENT', 'x'], usages) // CREATE AGENT [IF NOT EXISTS] …
 */
export const nearestUsage = (words: readonly string[], usages: Usages): string | undefined => {
  const typed = words.map((word) => word.toUpperCase().slice(0, 40)).filter((word) => !fillers.has(word))
  let nearest: string | undefined
  let least = 1
  for (const [head, usage] of Object.entries(usages)) {
    const size = head.split(' ').length
    const text = typed.slice(0, size).join(' ')
    const most = Math.max(1, Math.floor(head.length * 0.3))
    const far = editDistance(text, head)
    // Longer heads are more exact, so they come first among equals.
    const score = far / most - size * 0.01
    if (far <= most && score < least) {
      least = score
      nearest = usage
    }
  }
  return nearest
}

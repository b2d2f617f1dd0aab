import { createHash } from 'node:crypto'
import type { AnswerRow, NoteRow } from './rows.js'
import type { SharedLogSession } from './shared-log-session.js'

/** A kept answer of a node's file. */
export type OwnAnswer = Pick<AnswerRow, 'actor' | 'key' | 'answer'>
/** A differing kept answer: the log's version, or nothing. */
export type OtherAnswer = Pick<AnswerRow, 'actor' | 'key'> & { there: AnswerRow | undefined }
/** A payload of a node's file, and the master key that its own key is wrapped under. */
export type OwnKey = { hash: string; keyId: string }
export type WrappedKey = OwnKey & { wrapped: Buffer }

const otherAnswers = `
  SELECT mine.actor, mine.key, fingerprint, answer, answered_at AS "answeredAt"
  FROM unnest($1::text[], $2::text[], $3::bytea[]) AS mine (actor, key, digest) LEFT JOIN mindledger.answers USING (actor, key)
  WHERE answer IS NULL OR sha256(convert_to(answer, 'UTF8')) <> digest`

/** The answers of a file that the log lacks, or that differ there. */
export const answersOtherwise = async (session: SharedLogSession, mine: readonly OwnAnswer[]): Promise<OtherAnswer[]> => {
  const values = [
    mine.map(({ actor }) => actor),
    mine.map(({ key }) => key),
    mine.map(({ answer }) => createHash('sha256').update(answer).digest()),
  ]
  const { rows } = await session.query<Omit<AnswerRow, 'answer'> & { answer: string | null }>(otherAnswers, values)
  return rows.map((row) => ({ actor: row.actor, key: row.key, there: row.answer === null ? undefined : { ...row, answer: row.answer } }))
}

const lostAnswers = `
  SELECT mine.actor, mine.key
  FROM unnest($1::text[], $2::text[], $3::boolean[]) AS mine (actor, key, replied) LEFT JOIN mindledger.answers USING (actor, key)
  WHERE answer IS NULL OR (replied AND answer::json -> 'reply' IS NULL)`

const hasReply = ({ answer }: AnswerRow): boolean => Object.hasOwn(JSON.parse(answer) as object, 'reply')

/** The answers of a file that the log lacks, or whose reply it lacks. */
export const answersLost = async (session: SharedLogSession, mine: readonly AnswerRow[]): Promise<AnswerRow[]> => {
  const values = [mine.map(({ actor }) => actor), mine.map(({ key }) => key), mine.map(hasReply)]
  const { rows } = await session.query<OwnAnswer>(lostAnswers, values)
  const lost = new Set(rows.map(({ actor, key }) => JSON.stringify([actor, key])))
  return mine.filter(({ actor, key }) => lost.has(JSON.stringify([actor, key])))
}

const otherKeys = `
  SELECT hash, key_id AS "keyId", wrapped
  FROM unnest($1::text[], $2::text[]) AS mine (hash, own) JOIN mindledger.payloads USING (hash)
  WHERE key_id <> own AND wrapped IS NOT NULL`

/** The keys of payloads as the log has them, where they are wrapped under another master key than in a file. */
export const keysOtherwise = async (session: SharedLogSession, mine: readonly OwnKey[]): Promise<WrappedKey[]> => {
  const values = [mine.map(({ hash }) => hash), mine.map(({ keyId }) => keyId)]
  return (await session.query<WrappedKey>(otherKeys, values)).rows
}

/** The log's notes about itself; null where it has none. */
export const notesThere = async (session: SharedLogSession, keys: readonly string[]): Promise<NoteRow[]> => {
  const select = 'SELECT key, value FROM mindledger.notes WHERE key = ANY ($1)'
  const { rows } = await session.query<NoteRow>(select, [keys])
  const known = new Map(rows.map(({ key, value }) => [key, value]))
  return keys.map((key) => ({ key, value: known.get(key) ?? null }))
}

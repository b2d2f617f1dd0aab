import { Problem, errorText } from '../../basics/errors.js'

const titles = { away: 'Blob store away', damaged: 'Blob damaged' } as const

/** Whether an error means that the store that nodes share has failed. */
export const isOfSharedStore = ({ title }: Problem): boolean => title === titles.away || title === titles.damaged

/** Whether a blob of the store has other bytes than it was stored with. */
export const isBlobDamaged = ({ title }: Problem): boolean => title === titles.damaged

/** The problem for a client while PostgreSQL or S3 cannot be reached. */
export const blobsAway = (where: string, cause: unknown): Problem =>
  new Problem('storage_failed', titles.away, `the shared store of contents (${where}) cannot be reached, or refuses the request`, {
    hint: 'Send the request again. If that does not help, check the store and the settings that name it.',
    retryAfterSeconds: 2,
    cause: errorText(cause),
  })

/** The problem for a client when the store does not have the bytes that it should. */
export const blobDamaged = (sha: string, how: string): Problem =>
  new Problem('storage_failed', titles.damaged, `The shared store does not have blob ${sha} as it was stored: ${how}`, {
    hint: 'Restore it from a backup, or store the content again.',
  })

/** The problem of a blob that no node has stored, or that was erased (`not_found`). */
export const noBlob = (sha: string): Problem => new Problem('not_found', 'Blob not found', `Blob ${sha} does not exist`)

import { foldName, resourceName, type JsonObject } from '../../events/common.js'
import { differences, maskedPaths, secretPaths } from './secrets.js'

export type Kind =
  'project' | 'engine' | 'connection' | 'file' | 'view' | 'skill' | 'agent' | 'chatbot' | 'model' | 'job' | 'knowledge base' | 'trigger'

/** A REST command. If it is refused, `otherwise` creates what can be kept. */
export type RequestMethod = { by: 'request'; path: string; body: JsonObject; otherwise?: { body: JsonObject; note: string } }

/** The way to create an item here: a REST command, a statement, a training, or an upload of downloaded rows. */
export type CreationMethod =
  RequestMethod | { by: 'statement'; statement: string } | { by: 'training'; project: string; statement: string } | { by: 'upload' }

/** One item of the old service and its result. `project` is null if it belongs to none. */
export type Item = {
  kind: Kind
  project: string | null
  name: string
  /** Notes for the user: a missing secret, or the reason why it is not copied. */
  notes: string[]
  fate: { is: 'create'; make: CreationMethod } | { is: 'same' } | { is: 'different' } | { is: 'not copied' }
}

/** The way to compare and create the records of one kind. */
export type Copy<T extends { name: string }> = {
  kind: Kind
  /** The settings that must be equal in two records of the same item. */
  settings: (record: T) => JsonObject
  /** The way to create it, or the reason why this is impossible. */
  make: (record: T) => CreationMethod | string
  notes?: (record: T) => string[]
}

const unfitName = (name: string): string | undefined => resourceName.safeParse(name).error?.issues[0]?.message

/** The notes on secrets: secrets that are copied, and secrets that the user must enter again. */
const secretNotes = (settings: JsonObject): string[] => {
  const [carried, masked] = [secretPaths(settings), maskedPaths(settings)]
  return [
    ...(carried.length > 0 ? [`its secrets come along and are encrypted here: ${carried.join(', ')}`] : []),
    ...(masked.length > 0 ? [`the old service masks ${masked.join(', ')}: set it again here`] : []),
  ]
}

const fateOf = <T extends { name: string }>(copy: Copy<T>, record: T, before: T | undefined): Pick<Item, 'fate' | 'notes'> => {
  const unfit = unfitName(record.name)
  if (unfit !== undefined) return { fate: { is: 'not copied' }, notes: [`its name ${unfit}`] }
  const settings = copy.settings(record)
  if (before) {
    const differing = differences(settings, copy.settings(before))
    if (differing.length === 0) return { fate: { is: 'same' }, notes: [] }
    return { fate: { is: 'different' }, notes: [`the existing one differs in ${differing.join(', ')}, and stays unchanged`] }
  }
  const make = copy.make(record)
  if (typeof make === 'string') return { fate: { is: 'not copied' }, notes: [make] }
  return { fate: { is: 'create', make }, notes: [...secretNotes(settings), ...(copy.notes?.(record) ?? [])] }
}

/**
 * Plans the records of one kind.
 *
 * @example itemsOf(skillCopy('shop'), 'shop', old.skills, here.skills)
 */
export const itemsOf = <T extends { name: string }>(
  copy: Copy<T>,
  project: string | null,
  old: readonly T[],
  here: readonly T[],
): Item[] => {
  const known = new Map(here.map((record) => [foldName(record.name), record]))
  return old.map((record) => ({
    kind: copy.kind,
    project,
    name: record.name,
    ...fateOf(copy, record, known.get(foldName(record.name))),
  }))
}

import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { keep, readKeptJson } from './kept.js'
import { isSecretName, mask, withoutSecrets } from './secrets.js'

/** What was typed into the fields of a form, and the version that it changes. */
export type Draft = { texts: Record<string, string>; base?: string | undefined }

const key = 'drafts'
/** The drafts that were changed longest ago are dropped. */
const draftsMax = 50

const readAll = (): [string, Draft][] => {
  const kept = readKeptJson(key)
  return Array.isArray(kept) ? (kept as [string, Draft][]) : []
}

const readDraft = (name: string): Draft | undefined => readAll().find(([other]) => other === name)?.[1]

/** Takes the place of a draft. The last ones of the list are those that were changed last. */
const write = (name: string, draft: Draft | undefined): void => {
  const all = readAll()
  const others = all.filter(([other]) => other !== name)
  if (draft) keep(key, JSON.stringify([...others, [name, draft]].slice(-draftsMax)))
  else if (others.length < all.length) keep(key, JSON.stringify(others))
}

/**
 * What was typed into a form, kept in the browser until it is sent or discarded. Secrets are not kept. A window drops only what it found or
 * kept itself: the same form may be open in another one, with another text.
 *
 * @param name the name of the form, which all windows share
 * @param base the version of what the form changes
 * @returns `found` is what was kept when the form was shown; `type` keeps its fields as typed, and none of them drops the draft
 * @example const { found, type, drop } = useDraft('new skill'); type({ name: 'rents' })
 */
export const useDraft = (
  name: string,
  base?: string,
): { found: Draft | undefined; type: (texts: Record<string, string>) => void; drop: () => void } => {
  const before = useMemo(() => readDraft(name), [])
  const found = useSignal(before)
  const keptNow = (): string | undefined => JSON.stringify(readDraft(name))
  /** What this window found or kept last. */
  const own = useRef<string | undefined>(JSON.stringify(before))
  const put = (draft: Draft | undefined) => {
    const isOwn = keptNow() === own.current
    if (draft || isOwn) write(name, draft)
    own.current = draft || isOwn ? keptNow() : undefined
  }
  const type = (texts: Record<string, string>) => {
    const kept = Object.fromEntries(
      Object.entries(texts).map(([field, text]) => [field, text !== '' && isSecretName(field) ? mask : withoutSecrets(text)]),
    )
    put(Object.keys(texts).length === 0 ? undefined : { texts: kept, base })
  }
  const drop = () => {
    put(undefined)
    found.value = undefined
  }
  return { found: found.value, type, drop }
}

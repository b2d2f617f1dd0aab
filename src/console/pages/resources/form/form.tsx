/**
 * Room: the form of a resource, from the API's document. It imports only console/api, console/basics, console/components and
 * console/lists.
 */

import { useSignal } from '@preact/signals'
import { json } from '../../../api/request.js'
import type { BodyForm, Field } from '../../../api/schemas.js'
import type { Value } from '../../../api/sql.js'
import { useDraft } from '../../../basics/drafts.js'
import { useSending } from '../../../basics/loading.js'
import { Refusal } from '../../../components/notice.js'
import { Restored } from '../../../components/restored.js'
import { PlannedEvents, type PlannedEvent } from '../../../lists/planned-events.js'
import { changedMembers } from './changed-members.js'
import { Control, textOf } from './fields.js'

type Props = {
  form: BodyForm
  /** The current record of the resource; absent for a new resource. */
  record?: Record<string, Value>
  /** The values that a new resource begins with. */
  initial?: Record<string, Value> | undefined
  method: 'POST' | 'PUT'
  /** The API path that the form is sent to. */
  path: string
  /** What the change is based on. A draft that was typed on another base is outdated. */
  base?: string | undefined
  /** The version that the resource must have for the change: another change in between is a conflict. */
  etag?: () => Promise<string | undefined>
  word: string
  /** The name under which the browser keeps what was typed. */
  draft: string
  /** The project whose resources are proposed; null for a resource that is in none. */
  project: string | null
  /** Gets what was sent, and the answer to it. */
  done: (sent: Record<string, Value>, answer: Record<string, Value>) => unknown
}

/** Members that add to or remove from another member. The form shows that other member instead. */
const isHelper = ({ name }: Field): boolean => /_to_(?:add|remove)$/.test(name)

/** Whether a field can have a secret: no name can, and no value that the document has itself. */
const mayBeSecret = ({ name, form }: Field): boolean => name !== 'name' && form !== 'choice'

/** A form from the API's document. It sends only the changed members. */
export const ResourceForm = ({
  form: { member, fields },
  record,
  initial,
  method,
  path,
  base,
  etag,
  word,
  draft,
  project,
  done,
}: Props) => {
  const shown = fields.filter((field) => !isHelper(field))
  const textsFrom = (values: Record<string, Value> | undefined) =>
    Object.fromEntries(shown.map(({ name, form }) => [name, textOf(form, values?.[name])]))
  const was = textsFrom(record)
  const first = initial ? textsFrom(initial) : was
  const { found, type, drop } = useDraft(draft, base)
  const texts = useSignal<Record<string, string>>({ ...first, ...found?.texts })
  const { send, isSending, error } = useSending()
  const events = useSignal<PlannedEvent[] | undefined>(undefined)
  /** From the change on the form is closed until another one takes its place: its version is the one before the change. */
  const isClosed = useSignal(false)
  /** The planned events are those of the texts that were sent. */
  const change = ({ name }: Field, text: string) => {
    texts.value = { ...texts.value, [name]: text }
    events.value = undefined
    type(Object.fromEntries(Object.entries(texts.value).filter(([field, now]) => now !== first[field])))
  }
  const discard = () => {
    drop()
    texts.value = first
    events.value = undefined
  }
  const ask = async <T,>(isDryRun: boolean) => {
    events.value = undefined
    const body = changedMembers(shown, was, texts.value, record)
    if (record && Object.keys(body).length === 0) throw new Error('Nothing is changed yet. Change a field first.')
    const version = await etag?.()
    const headers = { ...(isDryRun && { Prefer: 'dry-run' }), ...(version !== undefined && { 'If-Match': version }) }
    return { body, answer: await json<T>(path, { method, body: { [member]: body }, headers, isReading: isDryRun }) }
  }
  const plan = () =>
    send(async () => {
      const sent = texts.value
      const { answer } = await ask<{ events: PlannedEvent[] }>(true)
      if (texts.value === sent) events.value = answer.events
    })
  const submit = () =>
    send(async () => {
      isClosed.value = true
      try {
        const { body, answer } = await ask<Record<string, Value>>(false)
        drop()
        done(body, answer)
      } catch (refused) {
        isClosed.value = false
        throw refused
      }
    })
  const isBusy = isSending || isClosed.value
  const isWrong = ({ name }: Field): boolean => error !== undefined && new RegExp(`\\b${name}\\b`).test(error.message)
  return (
    <form
      class="resource-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isClosed.peek()) void submit()
      }}
    >
      {found && <Restored draft={found} isOutdated={found.base !== base} discard={discard} />}
      <fieldset disabled={isClosed.value}>
        {shown.map((field) => (
          <Control
            key={field.name}
            field={field}
            text={texts.value[field.name] ?? ''}
            set={(text) => change(field, text)}
            isWrong={isWrong(field)}
            project={project}
          />
        ))}
      </fieldset>
      {error && <Refusal error={error} />}
      {events.value !== undefined && (
        <div class="notice" role="status">
          <p>Nothing was written. This would be recorded:</p>
          <PlannedEvents events={events.value} />
        </div>
      )}
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy}>
          {word}
        </button>
        <button type="button" disabled={isBusy} onClick={(event) => event.currentTarget.form?.reportValidity() === true && void plan()}>
          What would happen
        </button>
      </div>
      {shown.some(mayBeSecret) && (
        <p class="quiet">Secrets are encrypted before they are kept.{record && ' A secret that shows as ****** stays as it is.'}</p>
      )}
    </form>
  )
}

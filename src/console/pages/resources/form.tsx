import { useSignal } from '@preact/signals'
import { request, type ApiError } from '../../api/request.js'
import type { BodyForm, Field } from '../../api/schemas.js'
import type { Value } from '../../api/sql.js'
import { asApiError } from '../../basics/loading.js'
import { Refusal } from '../../components/notice.js'
import { PlannedEvents, type PlannedEvent } from '../../components/planned-events.js'
import { changedMembers } from './changed-members.js'
import { Control, textOf } from './fields.js'

type Props = {
  form: BodyForm
  /** The current record of the resource; absent for a new resource. */
  record?: Record<string, Value>
  method: 'POST' | 'PUT'
  /** The API path that the form is sent to. */
  path: string
  /** The version that the change is based on: another change in between is a conflict. */
  etag?: string | undefined
  word: string
  /** The proposals for a field. */
  choices: (field: Field) => readonly string[]
  done: (sent: Record<string, Value>) => void
}

/** Members that add to or remove from another member. The form shows that other member instead. */
const isHelper = ({ name }: Field): boolean => /_to_(?:add|remove)$/.test(name)

/** A form from the API's document. It sends only the changed members. */
export const ResourceForm = ({ form: { member, fields }, record, method, path, etag, word, choices, done }: Props) => {
  const shown = fields.filter((field) => !isHelper(field))
  const was = Object.fromEntries(shown.map(({ name, form }) => [name, textOf(form, record?.[name])]))
  const texts = useSignal(was)
  const error = useSignal<ApiError | undefined>(undefined)
  const events = useSignal<PlannedEvent[] | undefined>(undefined)
  const sending = useSignal<'plan' | 'change' | undefined>(undefined)
  const isSending = sending.value !== undefined
  /** The planned events are those of the texts that were sent. */
  const change = ({ name }: Field, text: string) => {
    texts.value = { ...texts.value, [name]: text }
    events.value = undefined
  }
  const send = async (isDryRun: boolean) => {
    sending.value = isDryRun ? 'plan' : 'change'
    error.value = undefined
    events.value = undefined
    try {
      const sent = texts.value
      const body = changedMembers(shown, was, sent, record)
      const response = await request(path, {
        method,
        body: { [member]: body },
        headers: { ...(isDryRun && { Prefer: 'dry-run' }), ...(etag !== undefined && { 'If-Match': etag }) },
      })
      if (!isDryRun) {
        // The form stays busy until another one takes its place: its version is the one before the change.
        done(body)
        return
      }
      const planned = (await response.json()) as { events: PlannedEvent[] }
      if (texts.value === sent) events.value = planned.events
    } catch (refused) {
      error.value = asApiError(refused)
    }
    sending.value = undefined
  }
  const isWrong = ({ name }: Field): boolean => error.value !== undefined && new RegExp(`\\b${name}\\b`).test(error.value.message)
  return (
    <form
      class="resource-form"
      onSubmit={(event) => {
        event.preventDefault()
        void send(false)
      }}
    >
      <fieldset disabled={sending.value === 'change'}>
        {shown.map((field) => (
          <Control
            key={field.name}
            field={field}
            text={texts.value[field.name] ?? ''}
            set={(text) => change(field, text)}
            isWrong={isWrong(field)}
            choices={choices(field)}
          />
        ))}
      </fieldset>
      {error.value && <Refusal error={error.value} />}
      {events.value !== undefined && (
        <div class="notice" role="status">
          <p>Nothing was written. This would be recorded:</p>
          <PlannedEvents events={events.value} />
        </div>
      )}
      <div class="row">
        <button type="submit" class="primary" disabled={isSending}>
          {word}
        </button>
        <button
          type="button"
          disabled={isSending}
          onClick={(event) => event.currentTarget.form?.reportValidity() === true && void send(true)}
        >
          What would happen
        </button>
      </div>
      <p class="quiet">Secrets are encrypted before they are kept. A secret that shows as ****** stays as it is.</p>
    </form>
  )
}

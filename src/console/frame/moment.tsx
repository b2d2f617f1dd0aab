import { useSignal } from '@preact/signals'
import { Icon } from '../parts/icon.js'
import { changeQuery, momentShown } from '../basics/place.js'

/** Shows at which position or time everything is read, and lets the reader choose another one. */
export const Moment = () => {
  const at = momentShown()
  const isOpen = useSignal(false)
  const show = (moment: string | undefined) => {
    isOpen.value = false
    changeQuery({ at: moment }, { replace: false })
  }
  const choose = (event: SubmitEvent) => {
    event.preventDefault()
    const said = new FormData(event.currentTarget as HTMLFormElement).get('at')
    show(typeof said === 'string' && said.trim() !== '' ? said.trim() : undefined)
  }
  return (
    <div class="moment">
      <button
        type="button"
        class={at === undefined ? 'plain' : 'past'}
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <Icon name="clock" />
        <span>{at === undefined ? 'Now' : `As of ${at}`}</span>
      </button>
      {isOpen.value && (
        <form class="popover" onSubmit={choose}>
          <label>
            A position of the log, or a time in UTC
            <input name="at" defaultValue={at ?? ''} placeholder="1042, or 2026-01-31 12:00:00" autofocus />
          </label>
          <div class="row">
            <button type="submit" class="primary">
              Show
            </button>
            <button type="button" onClick={() => show(undefined)}>
              Now
            </button>
          </div>
        </form>
      )}
    </div>
  )
}

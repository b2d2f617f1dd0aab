import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Value } from '../api/sql.js'
import { Copy } from './notice.js'
import { countText, shown } from './value.js'

/** The most characters of a value that the page shows. A copy has all of them. */
const shownMax = 200_000

/**
 * A value as a person reads it: objects, lists and texts of JSON have a line for each member. A text that this would change stays as it is.
 *
 * @example readable('{"a":1}') // '{\n  "a": 1\n}'
 */
const readable = (value: Value): string => {
  const text = shown(value)
  if (text.length > shownMax || !/^[[{]/.test(text)) return text
  try {
    const parsed = JSON.parse(text) as Value
    return JSON.stringify(parsed) === text ? JSON.stringify(parsed, null, 2) : text
  } catch {
    return text
  }
}

/** A value, and the name of its cell. A new object opens it again. */
export type Opened = { name: string; value: Value }

/**
 * The whole value of a cell, in a dialog over the page. Escape closes it, and Ctrl C copies the value unless a part of it is selected.
 *
 * @example <WholeValue opened={{ name: 'data, row 5', value: row[2] }} close={() => (opened.value = undefined)} />
 */
export const WholeValue = ({ opened, close }: { opened: Opened; close: () => void }) => {
  const { name, value } = opened
  const dialog = useRef<HTMLDialogElement>(null)
  const said = useSignal('')
  useLayoutEffect(() => {
    said.value = ''
    if (dialog.current?.open === false) dialog.current.showModal()
  }, [opened])
  const text = readable(value)
  // The event comes after the dialog is closed. By then, a quick user has opened another value.
  const onClose = () => dialog.current?.open === false && close()
  const onCopy = (event: ClipboardEvent) => {
    if ((getSelection()?.toString() ?? '') !== '') return
    event.clipboardData?.setData('text/plain', shown(value))
    event.preventDefault()
    said.value = 'Copied.'
  }
  return (
    <dialog ref={dialog} class="whole-value" aria-labelledby="whole-value-name" onClose={onClose} onCopy={onCopy}>
      <h2 id="whole-value-name">{name}</h2>
      <pre tabIndex={0} role="region" aria-label="The whole value" class={value === null ? 'null' : undefined}>
        {value === null ? 'NULL' : text.slice(0, shownMax)}
      </pre>
      {text.length > shownMax && (
        <p class="quiet">
          {countText(shownMax)} of {countText(text.length)} characters are shown. A copy has all.
        </p>
      )}
      <div class="tools">
        <Copy text={() => shown(value)} said={said} />
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
        <p role="status">{said.value}</p>
      </div>
    </dialog>
  )
}

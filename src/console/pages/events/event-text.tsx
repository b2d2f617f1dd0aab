import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { LogEvent } from './log-event.js'

/** The characters of an event that are in the page before it is opened: the browser's own search finds its names. */
const closedMax = 2_000

/** The JSON of an event. While the line around it is closed, the page has only its beginning. */
export const EventText = ({ event }: { event: LogEvent }) => {
  const shown = useRef<HTMLPreElement>(null)
  const isOpen = useSignal(false)
  useEffect(() => {
    const around = shown.current?.closest('details')
    const look = () => (isOpen.value = around?.open === true)
    look()
    around?.addEventListener('toggle', look)
    return () => around?.removeEventListener('toggle', look)
  }, [])
  const isWhole = isOpen.value
  const text = useMemo(() => {
    const whole = JSON.stringify(event, null, 2)
    return isWhole ? whole : whole.slice(0, closedMax)
  }, [event, isWhole])
  return <pre ref={shown}>{text}</pre>
}

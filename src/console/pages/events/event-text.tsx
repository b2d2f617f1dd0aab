import { useMemo } from 'preact/hooks'
import { beginning } from '../../components/value.js'
import type { LogEvent } from './log-event.js'

/** The characters of an event that are in the page before it is opened: the browser's own search finds its names. */
const closedMax = 2_000

/** The JSON of an event. While the line around it is closed, the page has only its beginning. */
export const EventText = ({ event, isOpen }: { event: LogEvent; isOpen: boolean }) => {
  const text = useMemo(() => {
    const whole = JSON.stringify(event, null, 2)
    return isOpen ? whole : beginning(whole, closedMax)
  }, [event, isOpen])
  return <pre>{text}</pre>
}

import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

type Props = { value: string; change: (value: string) => void; placeholder?: string; inputMode?: 'numeric' }

/**
 * A text field whose value changes when the user leaves it or presses Enter. Unfinished text stays, even if the page is redrawn meanwhile.
 *
 * @example <TextField value={project} change={(name) => changeQuery({ project: name })} placeholder="all" />
 */
export const TextField = ({ value, change, ...looks }: Props) => {
  const written = useSignal(value)
  // In the next frame it would take back what was typed before.
  useLayoutEffect(() => {
    written.value = value
  }, [value])
  return (
    <input
      {...looks}
      value={written.value}
      onInput={({ currentTarget }) => (written.value = currentTarget.value)}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

type Props = { value: string; change: (value: string) => void; placeholder?: string; inputMode?: 'numeric' }

/**
 * A text that counts when its writer leaves the field or presses Enter. What is half written stays, whatever the page shows meanwhile.
 *
 * @example <TextField value={project} change={(name) => changeQuery({ project: name })} placeholder="all" />
 */
export const TextField = ({ value, change, ...looks }: Props) => {
  const written = useSignal(value)
  useEffect(() => {
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

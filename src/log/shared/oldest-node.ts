import { limits } from '../../basics/limits.js'
import type { Nodes } from './nodes.js'

type Options = { nodes: Pick<Nodes, 'isOldest'>; begin: () => Promise<void>; onFailed: (error: unknown) => void }

/**
 * Begins what one node does for all, as soon as no older node lives; it never begins twice. Resolves once it has begun here, or another
 * node is older. Returns the function that waits no longer.
 *
 * @example undo(await onOldestNode({ nodes, begin: () => jobs.start(), onFailed }))
 */
export const onOldestNode = async ({ nodes, begin, onFailed }: Options): Promise<() => Promise<void>> => {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let looking: Promise<void> = Promise.resolve()
  const look = async (): Promise<void> => {
    if (await nodes.isOldest().catch(() => false)) {
      if (!isStopped) await begin()
    } else if (!isStopped) lookLater()
  }
  const lookLater = (): void => {
    timer = setTimeout(() => void (looking = look().catch(onFailed)), limits.nodeBeatMs)
    timer.unref()
  }
  await look()
  return async () => {
    isStopped = true
    clearTimeout(timer)
    await looking
  }
}

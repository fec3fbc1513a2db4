import type { CallFrame } from './client/types.js'

/* Looks at call trees. Pure functions, without the browser. */

/** Returns the number of frames of a tree. */
export function countFrames(frame: CallFrame): number {
  let count = 0
  const open = [frame]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    count++
    for (const call of next.calls ?? []) open.push(call)
  }
  return count
}

/** Returns the frames from the transaction's own call to the one where the failure began: each passes on the error and
 *  the revert data of the next. Empty if the first one succeeded. */
export function failurePath(root: CallFrame): CallFrame[] {
  if (root.error === undefined) return []
  const path = [root]
  for (let frame: CallFrame | undefined = root; frame !== undefined; ) {
    const { output = '0x' }: CallFrame = frame
    // What a contract calls after a failure belongs to its handling: only the last failed call can be passed on.
    frame = frame.calls?.findLast(({ error }) => error !== undefined)
    if (frame === undefined || (frame.output ?? '0x') !== output) break
    path.push(frame)
  }
  return path
}

import { after } from 'node:test'

type End = () => void | Promise<void>

/** Registers what runs after the tests of the file, the last one first: within a hook, node's `after` would run at the
 *  end of that hook. Call it at the top of a file. */
export function endOfFile(): { after(end: End): void } {
  const ends: End[] = []
  after(async () => {
    for (const end of ends) await end()
  })
  return { after: (end) => void ends.unshift(end) }
}

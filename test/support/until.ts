import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves when the condition holds; the test's own time limit ends it otherwise. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(10)
}

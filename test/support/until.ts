import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { ask } from './rpcClient.js'
import { THOROUGH } from './thorough.js'

// Below the time limit of a test, so that one that hangs names what it waits for.
const LIMIT_MS = THOROUGH ? 600_000 : 90_000
// Between two reads: short at first, then a twentieth of the time that it has taken, so that what waits long leaves the
// processor to what it waits for.
const MIN_PAUSE_MS = 10
const MAX_PAUSE_MS = 100

/** Reads a value until it is wanted. @returns that value
 *  @throws Error with the condition and the last value when that takes longer than `limitMs` */
export async function untilValue<T>(
  read: () => T | Promise<T>,
  isWanted: (value: T) => boolean,
  limitMs = LIMIT_MS,
): Promise<T> {
  return waitFor(read, isWanted, { limitMs, describe: (last) => `${isWanted}; last value: ${inspect(last)}` })
}

/** Resolves when the condition holds. @throws Error with the condition when that takes longer than `limitMs` */
export async function until(holds: () => boolean | Promise<boolean>, limitMs = LIMIT_MS): Promise<void> {
  await waitFor(holds, (value) => value, { limitMs, describe: () => String(holds) })
}

interface Limit<T> {
  limitMs: number
  describe(last: T): string
}

async function waitFor<T>(
  read: () => T | Promise<T>,
  isWanted: (value: T) => boolean,
  { limitMs, describe }: Limit<T>,
): Promise<T> {
  // The stack of the caller: the one after a pause is empty.
  const error = new Error()
  for (const begin = performance.now(); ; ) {
    const value = await read()
    if (isWanted(value)) return value
    const waitedMs = performance.now() - begin
    if (waitedMs >= limitMs) {
      error.message = `waited ${limitMs / 1000} s for ${describe(value)}`
      throw error
    }
    await sleep(Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, waitedMs / 20)))
  }
}

/** Resolves when the server has the block of this hash. While it syncs, it may answer with null or an error. */
export const untilBlock = ({ url }: { url: string }, hash: string): Promise<void> =>
  until(async () => Boolean((await ask(url, 'eth_getBlockByHash', [hash, false])).result))

/** Resolves when the server's newest block has this number or a higher one. An empty database answers with an error. */
export const untilBlockNumber = ({ url }: { url: string }, number: number): Promise<void> =>
  until(async () => Number((await ask(url, 'eth_blockNumber')).result ?? -1) >= number)

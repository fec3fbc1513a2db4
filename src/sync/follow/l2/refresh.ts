import { isDeepStrictEqual } from 'node:util'
import type { L2Block } from '../../../chain/starknet/types.js'
import type { Logger } from '../../../lib/logger.js'
import type { L2Upstreams } from '../../../sources/starknet/types.js'
import type { Clock } from '../../../sources/upstreams/clock.js'
import type { L2Store } from './l2Store.js'

/** Requests that are repeated beside following the heads. */
export interface Refreshing {
  store: L2Store
  upstreams: L2Upstreams
  clock: Clock
  /** False while blocks that the upstream has are not stored yet. */
  isAtHead(): boolean
  log: Logger
  signal: AbortSignal
}

const PENDING_MS = 1000
const ACCEPTANCE_MS = 10_000

/** Keeps the upstream's unconfirmed block while the newest confirmed one is stored. Ends with the signal, whose reason
 *  it throws. */
export async function refreshPending({ store, upstreams, clock, isAtHead, signal }: Refreshing): Promise<void> {
  const { reader, writer, turns } = store
  let stored: L2Block | undefined
  for (;;) {
    await clock.sleep(PENDING_MS, signal)
    const head = reader.head()
    if (head === undefined || !isAtHead()) continue
    const fetched = await upstreams.pending(head, signal)
    const block = fetched?.block
    if (reader.head()?.hash !== head.hash) continue
    const isStored = reader.pending() !== undefined
    if (block === undefined ? !isStored : isStored && isDeepStrictEqual(block, stored)) continue
    await turns.write(() => {
      if (reader.head()?.hash !== head.hash) return
      if (block === undefined) writer.dropPending()
      else {
        const placed = { ...block, number: head.number + 1, parentHash: head.hash }
        writer.importBlock(placed, { kind: 'unchecked' }, fetched!.raw)
      }
      stored = block
    })
  }
}

/** Raises the head accepted on layer 1 to that of the upstream. Ends with the signal, whose reason it throws. */
export async function refreshAcceptance({ store, upstreams, clock, log, signal }: Refreshing): Promise<void> {
  const { reader, writer, turns } = store
  const hashOf = (number: number) => {
    const held = reader.atOrBelow(number)
    return held?.number === number ? held.hash : undefined
  }
  for (;;) {
    await clock.sleep(ACCEPTANCE_MS, signal)
    const [first, head] = [reader.first(), reader.head()]
    if (first === undefined || head === undefined) continue
    const from = Math.max(first.number, (writer.acceptedOnL1() ?? -1) + 1)
    const number = await upstreams.acceptedOnL1({ from, to: head.number }, hashOf, signal)
    if (number === undefined) continue
    await turns.write(() => {
      const hash = hashOf(number)
      if (hash === undefined || !writer.acceptOnL1(number)) return
      log.info({ block: number }, 'accepted on layer 1')
    })
  }
}

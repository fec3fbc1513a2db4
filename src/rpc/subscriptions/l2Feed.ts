import { formatFelt } from '../../chain/starknet/felt.js'
import type { Database } from '../../store/database.js'
import { createL2ChainFollower, type L2Change, type L2Place } from '../../store/l2/l2ChainFollower.js'
import { formatStarknetHeader } from '../starknet/format.js'
import type { Feed } from './feed.js'

/** A notification of the Starknet specification: its method, and its result as JSON. */
interface L2Notice {
  readonly method: 'starknet_subscriptionNewHeads' | 'starknet_subscriptionReorg'
  readonly json: Buffer
}

/** A subscription to layer-2 heads. */
export interface L2Listener {
  take(notice: L2Notice): void
  /** False while the client has much to read: its backlog waits. */
  hasRoom(): boolean
}

/** The feed of the layer-2 chain. A new listener follows the chain by itself, from the newest block in the database or
 *  from further back, until it has caught up with the others. */
export interface L2Feed extends Feed {
  /** Notifies `listener` of later commits, after the blocks from number `fromBlock` on if set. Call it after
   *  `start`. */
  add(listener: L2Listener, fromBlock: number | undefined): void
  remove(listener: L2Listener): void
  /** Number of added blocks and reorgs notified so far, backlogs excluded. */
  changes(): number
}

interface Backlog {
  place: L2Place | undefined
  readonly startsMs: number
}

/** Blocks of a backlog between two checks for new changes. */
const PORTION = 16
/** starknet.js loses notifications that it reads together with the response that names their subscription. */
const BACKLOG_DELAY_MS = 20

/** A feed over a read-only connection. */
export function createL2Feed(db: Database): L2Feed {
  const follower = createL2ChainFollower(db)
  /** Listeners that were notified of the chain up to `place`. */
  const listeners = new Set<L2Listener>()
  const backlogs = new Map<L2Listener, Backlog>()
  let place: L2Place | undefined
  let changes = 0
  let seenVersion: number | undefined

  const notifyChange = async (wait: () => Promise<void> | undefined): Promise<boolean> => {
    const version = follower.version() // read first: a later commit makes the feed stale again
    if (version === seenVersion) return false
    const step = follower.next(place)
    if (step === undefined) {
      seenVersion = version
      return false
    }
    place = step.place
    changes++
    const notice = describe(step.change)
    for (const listener of listeners) {
      const turn = wait()
      if (turn !== undefined) await turn
      listener.take(notice)
    }
    return true
  }
  /** The next backlog in turn that can continue. */
  const nextBacklog = (): [L2Listener, Backlog] | undefined => {
    const now = performance.now()
    for (let left = backlogs.size; left > 0; left--) {
      const [listener, backlog] = backlogs.entries().next().value!
      backlogs.delete(listener)
      backlogs.set(listener, backlog)
      if (now >= backlog.startsMs && listener.hasRoom()) return [listener, backlog]
    }
    return undefined
  }
  const notifyBacklog = async (wait: () => Promise<void> | undefined): Promise<boolean> => {
    const [listener, backlog] = nextBacklog() ?? []
    if (listener === undefined || backlog === undefined) return false
    for (let count = 0; count < PORTION; count++) {
      const turn = wait()
      if (turn !== undefined) await turn
      if (!backlogs.has(listener)) return true
      if (isSame(backlog.place, place)) {
        backlogs.delete(listener)
        listeners.add(listener)
        return true
      }
      const step = follower.next(backlog.place)
      if (step === undefined) return count > 0 // it is ahead of the others, which were not notified of some changes
      backlog.place = step.place
      listener.take(describe(step.change))
    }
    return true
  }
  return {
    changes: () => changes,
    size: () => listeners.size + backlogs.size,
    start() {
      place = follower.head()
      seenVersion = undefined
    },
    isStale: () => backlogs.size > 0 || follower.version() !== seenVersion,
    notifyNext: async (wait) => (await notifyChange(wait)) || notifyBacklog(wait),
    add(listener, fromBlock) {
      if (fromBlock === undefined) backlogs.set(listener, { place: follower.head(), startsMs: 0 })
      else backlogs.set(listener, { place: follower.before(fromBlock), startsMs: performance.now() + BACKLOG_DELAY_MS })
    },
    remove(listener) {
      listeners.delete(listener)
      backlogs.delete(listener)
    },
  }
}

function isSame(a: L2Place | undefined, b: L2Place | undefined): boolean {
  return a?.hash === b?.hash
}

function describe(change: L2Change): L2Notice {
  if (change.kind === 'added') {
    const json = Buffer.from(JSON.stringify(formatStarknetHeader(change.block)))
    return { method: 'starknet_subscriptionNewHeads', json }
  }
  const { first, last } = change
  const reorg = {
    starting_block_hash: formatFelt(first.hash),
    starting_block_number: first.number,
    ending_block_hash: formatFelt(last.hash),
    ending_block_number: last.number,
  }
  return { method: 'starknet_subscriptionReorg', json: Buffer.from(JSON.stringify(reorg)) }
}

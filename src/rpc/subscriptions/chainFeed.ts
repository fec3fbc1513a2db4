import type { Database } from '../../store/database.js'
import { ChainFollower, type ChainMark, ChangesMissed } from '../../store/rows/chainFollower.js'
import { BlockReceipts } from './blockReceipts.js'
import type { Feed } from './feed.js'
import { wantsBlock } from './logCriteria.js'
import { NewHead, NewLog, type SubscriptionRegistry } from './subscriptionRegistry.js'

/** The feed of the Ethereum chain. */
export interface ChainFeed extends Feed {
  /** Marks the current chain for a new listener. Call it after `start`. */
  mark(): ChainMark
  /** Number of added and removed blocks notified so far. */
  changes(): number
}

/** A feed for a registry of listeners, over a read-only connection. Each change is matched once against all listeners.
 *  `onMissed` reports changes that the database no longer keeps, or a block whose remaining logs cannot be read; the
 *  feed continues after them. */
export function createChainFeed(
  db: Database,
  registry: SubscriptionRegistry,
  { onMissed }: { onMissed(error: Error): void },
): ChainFeed {
  const follower = new ChainFollower(db)
  const receipts = new BlockReceipts(db)
  let changes = 0

  const nextChange = () => {
    try {
      return follower.next()
    } catch (error) {
      if (!(error instanceof ChangesMissed)) throw error
      follower.start()
      onMissed(error)
      return undefined
    }
  }
  return {
    mark: () => follower.mark(),
    changes: () => changes,
    size: registry.size,
    start: () => follower.start(),
    isStale: () => follower.isStale(),
    async notifyNext(wait) {
      if (!follower.isStale()) return false
      const change = nextChange()
      if (change === undefined) return false
      const { kind, block, logs } = change
      changes++
      if (kind === 'added') {
        const head = new NewHead(block)
        for (const listener of registry.heads) {
          const turn = wait()
          if (turn !== undefined) await turn
          if (listener.mark.precedes(change)) listener.takeHead(head)
        }
      }
      if (kind === 'added' && registry.receipts.size > 0) {
        const texts = await receipts.read(block, wait)
        for (const listener of registry.receipts) {
          const turn = wait()
          if (turn !== undefined) await turn
          const json = listener.mark.precedes(change) ? texts?.select(listener.topic.criteria) : undefined
          if (json !== undefined) listener.takeReceipts?.(json)
        }
      }
      const place = kind === 'added' ? { number: block.header.number, hash: block.hash } : block
      if (registry.logs.size() === 0) return true
      try {
        for (const stored of logs) {
          const turn = wait()
          if (turn !== undefined) await turn
          const entry = new NewLog(stored, { removed: kind === 'removed' })
          registry.logs.match(entry, (listener) => {
            if (listener.mark.precedes(change) && wantsBlock(listener.topic.criteria, place)) listener.takeLog(entry)
          })
        }
      } catch (error) {
        // Listeners have some logs of the block and would never receive the others.
        onMissed(error as Error)
        if (!(error instanceof ChangesMissed)) throw error
      }
      return true
    },
  }
}

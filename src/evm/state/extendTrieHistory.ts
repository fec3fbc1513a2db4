import { equalBytes } from '../../lib/bytes.js'
import type { Database } from '../../store/database.js'
import type { ChainReader } from '../../store/rows/types.js'
import type { StateReader } from '../../store/state/stateReader.js'
import { createStateTrieTable } from '../../store/state/stateTrieTable.js'
import { createTouchedAbove } from '../../store/state/touchedAbove.js'
import { createTrieHistory, TRIE_HISTORY_BLOCKS } from '../../store/state/trieHistory.js'
import { beginWriting, commitWriting, rollbackWriting } from '../../store/writeTransaction.js'
import { createStateRoot } from '../../trie/stateRoot.js'
import { findTrieBlock } from '../../trie/trieBlock.js'
import { toTouched } from '../transition/blockExecutor.js'
import { RestoredTrieDiffers } from './pastTries.js'

const PAGE_BYTES = 8 * 2 ** 20
// Restoring a trie over this many rows takes less than 50 ms.
const FEW_CHANGES = 1_500

/** Makes the trie of one more block available, before the earliest available one. One transaction of some
 *  milliseconds. */
export type ExtendTrieHistory = () => boolean

/** For a writing connection outside of transactions. The function returns false once the tries of 128 blocks before the
 *  head are available. It skips a chain whose 128 newest blocks changed fewer than `few` accounts and slots, because
 *  restoring a trie is fast there.
 *  @throws RestoredTrieDiffers */
export function createTrieHistoryExtension(
  db: Database,
  { chain, reader }: { chain: ChainReader; reader: StateReader },
  few = FEW_CHANGES,
): ExtendTrieHistory {
  const newest = createStateTrieTable(db)
  const history = createTrieHistory(db)
  const touchedAbove = createTouchedAbove(db, reader)
  const extend = (number: number) => {
    const table = history.before(number + 1)
    const trie = createStateRoot(table, PAGE_BYTES)
    const changed = touchedAbove.take({ above: number, upTo: number + 1 })
    const root = trie.update(changed.map((each) => toTouched(touchedAbove.restored(each, number))))
    const { header } = chain.blockByNumber(number)!
    if (chain.commitsToState(number) && !equalBytes(root, header.stateRoot)) throw new RestoredTrieDiffers(number)
    trie.save()
    table.done()
  }
  return () => {
    const { stateFirst } = chain.coverage() ?? {}
    const head = stateFirst === undefined ? undefined : findTrieBlock(newest, chain)?.number
    if (stateFirst === undefined || head === undefined) return false
    const earliest = Math.max(stateFirst, head - TRIE_HISTORY_BLOCKS)
    const from = history.from(head)
    if (from <= earliest || (from === head && touchedAbove.count(earliest, few) < few)) return false
    beginWriting(db)
    try {
      history.begin(head)
      extend(from - 1)
      commitWriting(db)
    } catch (error) {
      rollbackWriting(db)
      throw error
    }
    return true
  }
}

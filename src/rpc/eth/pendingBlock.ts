import { EMPTY_UNCLES_HASH } from '../../chain/eth/emptyHashes.js'
import { familyOf } from '../../chain/eth/families/families.js'
import { type ChainSpec, rulesAt } from '../../chain/eth/forks/rules.js'
import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import type { Header, PendingBlock } from '../../chain/eth/types.js'
import { EMPTY_BYTES, equalBytes } from '../../lib/bytes.js'
import type { StoredBlock } from '../../store/rows/types.js'
import type { RpcContext } from '../core/context.js'

const MAX_TIMESTAMP = 2n ** 64n - 1n

/** What the tag `pending` resolves to. */
export interface PendingView extends PendingBlock {
  readonly totalDifficulty: bigint
}

/** The pending block on top of `head`: the upstream's if available, otherwise an empty one. */
export function readPendingBlock({ chain, upstreamPending }: RpcContext, head: StoredBlock): PendingView {
  const pending = upstreamPending()
  const isNext =
    pending && equalBytes(pending.header.parentHash, head.hash) && pending.header.number === head.header.number + 1
  if (isNext) return { ...pending, totalDifficulty: head.totalDifficulty + pending.header.difficulty }
  const { header, totalDifficulty } = buildPendingBlock(chain.spec(), head, Date.now())
  return { header, totalDifficulty, transactions: [], withdrawals: header.withdrawalsRoot ? [] : undefined }
}

/** An empty block on top of the head at time `nowMs`, or one second after the head if its clock is ahead; fees and
 *  fields follow the fork at that time. Nothing is executed, so the state root is the head's. */
function buildPendingBlock(
  spec: ChainSpec,
  head: StoredBlock,
  nowMs: number,
): { header: Header; totalDifficulty: bigint } {
  const parent = head.header
  const number = parent.number + 1
  const now = BigInt(Math.floor(nowMs / 1000))
  // No block can follow the last 64-bit time: it then keeps that time.
  const next = parent.timestamp < MAX_TIMESTAMP ? parent.timestamp + 1n : MAX_TIMESTAMP
  const timestamp = next > now ? next : now
  const rules = rulesAt(spec, number, timestamp, head.totalDifficulty)
  const difficulty = rules.isProofOfStake ? 0n : parent.difficulty
  const header: Header = {
    parentHash: head.hash,
    unclesHash: EMPTY_UNCLES_HASH,
    miner: new Uint8Array(20),
    stateRoot: parent.stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty,
    number,
    gasLimit: parent.gasLimit,
    gasUsed: 0n,
    timestamp,
    extraData: EMPTY_BYTES,
    mixHash: new Uint8Array(32),
    nonce: new Uint8Array(8),
  }
  const family = familyOf(spec)
  Object.assign(header, Object.fromEntries(rules.headerFields.map(({ name, empty }) => [name, empty])))
  if (rules.eip1559) header.baseFeePerGas = family.nextBaseFee(parent, timestamp, spec)
  if (rules.eip4844) header.excessBlobGas = family.nextExcessBlobGas(parent, rules)
  if (rules.eip7843) header.slotNumber = (parent.slotNumber ?? 0n) + 1n
  return { header, totalDifficulty: head.totalDifficulty + difficulty }
}

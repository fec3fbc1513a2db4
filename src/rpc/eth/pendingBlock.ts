import { nextBaseFee, nextExcessBlobGas } from '../../chain/eth/fees.js'
import { type ChainSpec, rulesAt } from '../../chain/eth/forks.js'
import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import type { Header } from '../../chain/eth/types.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import { parseHex } from '../../lib/hex.js'
import type { StoredBlock } from '../../store/chainReader.js'

const EMPTY_UNCLES_HASH = parseHex('0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347')
/** SHA-256 of nothing: the requests hash of a block without requests (EIP-7685). */
const EMPTY_REQUESTS_HASH = parseHex('0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')

/** An empty block on top of the head at the time `nowMs`, or a second after the head where its clock is ahead: fees
 *  and fields follow the fork of that time. Nothing is executed, so the state root is the head's. */
export function buildPendingBlock(
  spec: ChainSpec,
  head: StoredBlock,
  nowMs: number,
): { header: Header; totalDifficulty: bigint } {
  const parent = head.header
  const number = parent.number + 1
  const timestamp = Math.max(parent.timestamp + 1, Math.floor(nowMs / 1000))
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
  if (rules.has('london')) header.baseFeePerGas = nextBaseFee(parent)
  if (rules.has('shanghai')) header.withdrawalsRoot = EMPTY_TRIE_ROOT
  if (rules.has('cancun')) {
    header.blobGasUsed = 0n
    header.excessBlobGas = nextExcessBlobGas(parent, rules)
    header.parentBeaconBlockRoot = new Uint8Array(32)
  }
  if (rules.has('prague')) header.requestsHash = EMPTY_REQUESTS_HASH
  return { header, totalDifficulty: head.totalDifficulty + difficulty }
}

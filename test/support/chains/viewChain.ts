import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keccak256, signHash } from '../../../src/chain/crypto.js'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import type { AccessListEntry, Authorization } from '../../../src/chain/eth/types.js'
import { bytesToBigInt, concatBytes, padLeft } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import {
  createMetaTable,
  META_STATE_OLDER_FROM,
  META_STATE_RECENT_FROM,
  META_STATE_TIP_FROM,
} from '../../../src/store/meta.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { assemble } from '../../../tools/fixture/assembler.js'
import {
  createChainBuilder,
  createSender,
  type Sender,
  type TransactionPlan,
} from '../../../tools/fixture/chainBuilder.js'
import { SYSTEM_ACCOUNTS } from '../../../tools/fixture/genesis.js'
import { blob } from '../../../tools/fixture/plans.js'
import { type SeededRandom, seededRandom } from '../random.js'
import { temporaryDirectory } from '../temporary.js'
import { THOROUGH } from '../thorough.js'
import { importChainFolder } from './chainFolder.js'
import { createForkGenesis } from './forkGenesis.js'

/* A chain of random blocks with what the fixture chain has little of: withdrawals, token logs, authorizations that are
 * invalid in every way, access lists, and accounts whose nonce and code change while the balance does not. */

const STORE = `0x${'51'.repeat(20)}`
/** Emits a log with the first words of its input as topics, and the rest as data. */
export const LOGGERS = [3, 4].map((topics) => ({
  address: `0x${`5${topics}`.repeat(20)}`,
  topics,
  code: assemble(`
    ${32 * topics} calldatasize sub dup1 ${32 * topics} 0 calldatacopy
    ${Array.from({ length: topics }, (_, i) => `${32 * (topics - 1 - i)} calldataload`).join(' ')}
    dup${topics + 1} 0 log${topics} stop`),
}))
const EVENTS = ['Transfer', 'Approval'].map((name) =>
  keccak256(new TextEncoder().encode(`${name}(address,address,uint256)`)),
)
/** Topic 0 of a swap of Uniswap v2. */
const SWAP = keccak256(new TextEncoder().encode('Swap(address,uint256,uint256,uint256,uint256,address)'))
const CHAIN_ID = 1337n
/** Blocks after block 0. */
export const BLOCKS = THOROUGH ? 100 : 70
// 100,000 ether
const RICH = '0x152d02c7e14af6800000'

const WORDS = ['ann', 'ben', 'cat', 'dan', 'eve']

/** An account that sends and receives. */
export const HOLDER = formatData(createSender('views ann').address)

/** A folder with `genesis.json` and `chain.rlp`. */
export async function writeViewChain(t: { after(end: () => void): void }, seed: number): Promise<string> {
  const folder = temporaryDirectory(t)
  const random = seededRandom(seed)
  const senders = WORDS.map((word) => createSender(`views ${word}`))
  const code = assemble('32 calldataload 0 calldataload sstore stop')
  const genesis = createForkGenesis('osaka', {
    ...SYSTEM_ACCOUNTS,
    [STORE]: { balance: '0x1', nonce: '0x1', code: formatData(code) },
    ...Object.fromEntries(
      LOGGERS.map((each) => [each.address, { balance: '0x0', nonce: '0x1', code: formatData(each.code) }]),
    ),
    ...Object.fromEntries(senders.slice(0, 3).map(({ address }) => [formatData(address), { balance: RICH }])),
  })
  const db = openForWriting(temporaryDirectory(t))
  const builder = await createChainBuilder(db, genesis)
  let withdrawn = 0n
  for (let block = 0; block < BLOCKS; block++) {
    const withdrawals = Array.from({ length: random.below(4) }, () => ({
      index: withdrawn++,
      validatorIndex: BigInt(random.below(1_000_000)),
      address: senders[random.below(5)].address,
      amountGwei: BigInt(random.below(3) && random.below(2 ** 31)),
    }))
    const transactions = Array.from({ length: 1 + random.below(3) }, () => randomTransaction(random, senders))
    await builder.add({ transactions, withdrawals, afterSeconds: 1 + random.below(20_000) })
  }
  writeFileSync(join(folder, 'genesis.json'), JSON.stringify(genesis))
  writeFileSync(join(folder, 'chain.rlp'), builder.encode())
  db.close()
  return folder
}

function randomTransaction(random: SeededRandom, senders: readonly Sender[]): TransactionPlan {
  const sender = senders[random.below(3)]
  if (random.below(6) === 0) return blob(sender, parseHex(STORE), 1 + random.below(2))
  if (random.below(5) < 3) return randomLog(random, senders)
  const to = [parseHex(STORE), senders[random.below(5)].address, random.bytes(20)][random.below(3)]
  const word = () => padLeft(Uint8Array.of(random.below(3)), 32)
  const plan = { sender, to, input: concatBytes(word(), word()), value: BigInt(random.below(2)), gasLimit: 500_000n }
  const type = random.below(3)
  if (type === 0) return plan
  const accessList = Array.from({ length: random.below(4) }, () => randomEntry(random))
  if (type === 1) return { ...plan, type: 1, accessList }
  const authorizationList = Array.from({ length: 1 + random.below(3) }, () => randomAuthorization(random, senders))
  return { ...plan, type: 4, accessList, authorizationList }
}

/** A log of a token, or nearly one: of either event, with three or four topics, and data of any length; or of a
 *  swap. */
function randomLog(random: SeededRandom, senders: readonly Sender[]): TransactionPlan {
  const { address, topics } = LOGGERS[random.below(2)]
  const others = [new Uint8Array(20), random.bytes(20)]
  const party = () => padLeft(others[random.below(6)] ?? senders[random.below(5)].address, 32)
  const words = [EVENTS[random.below(3) === 0 ? 1 : 0], party(), party()]
  const integer = () => padLeft(random.bytes(1 + random.below(32)), 32)
  const sender = senders[random.below(3)]
  if (topics === 3 && random.below(6) === 0) {
    const amounts = Array.from({ length: 4 }, () => (random.below(2) === 0 ? new Uint8Array(32) : integer()))
    return { sender, to: parseHex(address), input: concatBytes(SWAP, party(), party(), ...amounts) }
  }
  if (topics === 4) words.push(padLeft(Uint8Array.of(random.below(5)), 32))
  const data = random.below(5) === 0 ? random.bytes(random.below(70)) : topics === 4 ? [] : integer()
  const input = concatBytes(...words, Uint8Array.from(data))
  return { sender, to: parseHex(address), input }
}

function randomEntry(random: SeededRandom): AccessListEntry {
  return {
    address: random.below(2) === 0 ? parseHex(STORE) : random.bytes(20),
    storageKeys: Array.from({ length: random.below(3) }, () => padLeft(random.bytes(random.below(33)), 32)),
  }
}

/** Valid, of another chain, of another nonce, or with a signature that is broken. */
function randomAuthorization(random: SeededRandom, senders: readonly Sender[]): Authorization {
  const { privateKey } = senders[3 + random.below(2)] // those that send nothing themselves
  const chainId = [CHAIN_ID, 0n, 99n][random.below(3)]
  const address = [parseHex(STORE), new Uint8Array(20), random.bytes(20)][random.below(3)]
  const fields = { chainId, address, nonce: [0n, 1n, 2n, 2n ** 63n + 1n][random.below(4)] }
  const message = encodeRlp([fields.chainId, fields.address, fields.nonce])
  const { r, s, recoveryId } = signHash(keccak256(concatBytes(Uint8Array.of(5), message)), privateKey)
  const signed = { ...fields, yParity: BigInt(recoveryId), r: bytesToBigInt(r), s: bytesToBigInt(s) }
  const broken = [{ r: 0n }, { s: signed.s + 2n ** 255n }, { yParity: 4n }, { r: 5n }]
  return random.below(3) === 0 ? { ...signed, ...broken[random.below(broken.length)] } : signed
}

/** Imports the chain of a folder into a data directory. The rows of the later half are in the tables of newer rows, as
 *  at the tip: those of the last quarter in the tables of the tip, of an eighth each in the others. */
export async function importViewChain(datadir: string, folder: string): Promise<void> {
  await importChainFolder(datadir, folder)
  const db = openForWriting(datadir)
  const [olderFrom, recentFrom, tipFrom] = [4, 5, 6].map((eighths) => Math.floor((BLOCKS * eighths) / 8))
  for (const kind of ['account', 'storage']) {
    const move = (level: string, from: number, to: number) =>
      db.exec(`INSERT INTO ${kind}_${level} SELECT * FROM ${kind}_history WHERE block_number BETWEEN ${from} AND ${to - 1};
        DELETE FROM ${kind}_history WHERE block_number BETWEEN ${from} AND ${to - 1}`)
    move('older', olderFrom, recentFrom)
    move('recent', recentFrom, tipFrom)
    move('tip', tipFrom, BLOCKS + 1)
  }
  const meta = createMetaTable(db)
  meta.set(META_STATE_OLDER_FROM, olderFrom)
  meta.set(META_STATE_RECENT_FROM, recentFrom)
  meta.set(META_STATE_TIP_FROM, tipFrom)
  db.close()
}

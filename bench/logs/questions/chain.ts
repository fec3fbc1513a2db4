import { keccak256 } from '../../../src/chain/crypto.js'
import { createAddress } from '../../../src/chain/eth/transaction.js'
import { concatBytes, padLeft } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createForkGenesis } from '../../../test/support/chains/forkGenesis.js'
import { LOGGERS } from '../../../test/support/chains/viewChain.js'
import { type SeededRandom, seededRandom } from '../../../test/support/random.js'
import { assemble } from '../../../tools/fixture/assembler.js'
import {
  type ChainBuilder,
  createChainBuilder,
  createSender,
  type Sender,
  type TransactionPlan,
} from '../../../tools/fixture/chainBuilder.js'
import { COUNTER_INIT, encodeWords, FACTORY, REVERTER, TOKEN } from '../../../tools/fixture/contracts.js'
import { SYSTEM_ACCOUNTS } from '../../../tools/fixture/genesis.js'
import { blob, call, deploy } from '../../../tools/fixture/plans.js'

const SENDERS = 40
const TRANSACTIONS = 60
const RECIPIENTS = 2_000
const RICH = '0x152d02c7e14af6800000' // 100,000 ether
const topicOf = (signature: string) => keccak256(new TextEncoder().encode(signature))
/** Sends the ether of a call to the address in its input. */
const FORWARDER = `0x${'f7'.repeat(20)}`
const FORWARDER_CODE = assemble('0 0 0 0 callvalue 0 calldataload gas call stop')
const TRANSFER = topicOf('Transfer(address,address,uint256)')
const SWAP = topicOf('Swap(address,uint256,uint256,uint256,uint256,address)')

/** What the questions ask about; addresses in hex. */
export interface QuestionChain {
  readonly token: string
  readonly collection: string
  readonly pair: string
  readonly holder: string
  readonly deployer: string
  readonly blocks: number
  readonly transactions: number
}

/** Makes and executes blocks of token transfers, NFTs, swaps, ether, also by calls, failures, creations, blobs and
 *  withdrawals into a database with the trace index. */
export async function makeQuestionChain(datadir: string, blocks: number, seed: number): Promise<QuestionChain> {
  const db = openForWriting(datadir)
  const random = seededRandom(seed)
  const senders = Array.from({ length: SENDERS }, (_, i) => createSender(`questions ${i}`))
  const [pair, collection] = LOGGERS.map(({ address }) => address)
  const genesis = createForkGenesis('osaka', {
    ...SYSTEM_ACCOUNTS,
    [FORWARDER]: { balance: '0x0', nonce: '0x1', code: formatData(FORWARDER_CODE) },
    ...Object.fromEntries(
      LOGGERS.map((each) => [each.address, { balance: '0x0', nonce: '0x1', code: formatData(each.code) }]),
    ),
    ...Object.fromEntries(senders.map(({ address }) => [formatData(address), { balance: RICH }])),
  })
  const builder = await createChainBuilder(db, genesis, { traces: true })
  const contracts = await deployContracts(builder, senders)
  const people = { senders, recipients: Array.from({ length: RECIPIENTS }, () => random.bytes(20)) }
  const places = { ...contracts, pair: parseHex(pair), collection: parseHex(collection) }
  let withdrawn = 0n
  for (let block = 0; block < blocks; block++) {
    const withdrawals = Array.from({ length: 4 }, () => ({
      index: withdrawn++,
      validatorIndex: BigInt(random.below(1_000_000)),
      address: people.recipients[random.below(RECIPIENTS)],
      amountGwei: BigInt(random.below(2 ** 31)),
    }))
    const transactions = Array.from({ length: TRANSACTIONS - 1 }, () => randomTransaction(random, people, places))
    transactions.push(blob(senders[0], people.recipients[0], 1 + random.below(3)))
    await builder.add({ transactions, withdrawals, afterSeconds: 1 + random.below(3_600) })
  }
  db.close()
  const [first] = senders
  return {
    ...{ token: formatData(contracts.token), collection, pair },
    ...{ holder: formatData(first.address), deployer: formatData(first.address) },
    ...{ blocks: blocks + 2, transactions: blocks * TRANSACTIONS + 3 + SENDERS },
  }
}

type Places = Awaited<ReturnType<typeof deployContracts>> & { pair: Uint8Array; collection: Uint8Array }

async function deployContracts(builder: ChainBuilder, senders: readonly Sender[]) {
  const [owner] = senders
  const made = [TOKEN, FACTORY, REVERTER].map((code) => {
    const address = createAddress(owner.address, owner.nonce)
    return { address, plan: deploy(owner, code) }
  })
  await builder.add({ transactions: made.map(({ plan }) => plan) })
  const [token, factory, reverter] = made.map(({ address }) => address)
  const mint = (sender: Sender) => call(sender, token, 'mint(address,uint256)', sender.address, 10n ** 24n)
  await builder.add({ transactions: senders.map(mint) })
  return { token, factory, reverter }
}

function randomTransaction(
  random: SeededRandom,
  { senders, recipients }: { senders: readonly Sender[]; recipients: readonly Uint8Array[] },
  { token, factory, reverter, pair, collection }: Places,
): TransactionPlan {
  const sender = senders[random.below(SENDERS)]
  const recipient =
    random.below(4) === 0 ? senders[random.below(SENDERS)].address : recipients[random.below(RECIPIENTS)]
  const word = (bytes: Uint8Array) => padLeft(bytes, 32)
  const amount = () => word(random.bytes(8))
  const kind = random.below(100)
  if (kind < 46) {
    const value = BigInt(1 + random.below(2 ** 31))
    return call(sender, token, 'transfer(address,uint256)', recipient, value)
  }
  if (kind < 50) {
    const value = BigInt(1 + random.below(2 ** 31))
    return { sender, to: parseHex(FORWARDER), value, input: word(senders[random.below(8)].address), gasLimit: 200_000n }
  }
  if (kind < 65) return { sender, to: recipient, value: BigInt(1 + random.below(2 ** 31)) }
  if (kind < 75) {
    const id = word(random.bytes(2))
    return { sender, to: collection, input: concatBytes(TRANSFER, word(sender.address), word(recipient), id) }
  }
  if (kind < 87) {
    const input = concatBytes(SWAP, word(sender.address), word(recipient), amount(), amount(), amount(), amount())
    return { sender, to: pair, input }
  }
  if (kind < 93) {
    const failure = ['failString()', 'failPanic()', 'failCustom()'][random.below(3)]
    return call(sender, reverter, failure)
  }
  if (kind < 96) return { sender, to: factory, input: encodeWords(random.bytes(32)), gasLimit: 1_500_000n }
  return deploy(sender, COUNTER_INIT)
}

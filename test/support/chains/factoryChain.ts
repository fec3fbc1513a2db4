import { getContractAddress } from 'viem'
import { concatBytes } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { assemble } from '../../../tools/fixture/assembler.js'
import { createChainBuilder, createSender, type TransactionPlan } from '../../../tools/fixture/chainBuilder.js'
import { seededRandom } from '../random.js'
import { createForkGenesis } from './forkGenesis.js'

/* A chain of factories: contracts that create copies of themselves, with the ether of the call, for any caller. */

/** Init code that returns what follows it. */
const PREFIX = '0x600d380380600d6000396000f3'
const PREFIX_BYTES = 13
/** Creates a copy of itself with the value of the call. Calldata makes it revert afterwards. */
const FACTORY_CODE = assemble(`
  ${PREFIX} 0 mstore codesize 0 32 codecopy
  ${PREFIX_BYTES} codesize add ${32 - PREFIX_BYTES} callvalue create
  calldatasize @fail jumpi stop
  :fail 0 0 revert`)
const RICH = '0x152d02c7e14af6800000'
const BLOCKS = 40

const SENDERS = ['one', 'two'].map((name) => createSender(`factories ${name}`))

/** An account that deploys a third of the factories. The other one calls them, too. */
export const DEPLOYER = formatData(SENDERS[0].address)

/** Writes the chain to `datadir`, with the trace index. Returns the addresses of all factories. */
export async function writeFactoryChain(datadir: string, seed: number): Promise<string[]> {
  const random = seededRandom(seed)
  for (const sender of SENDERS) sender.nonce = 0n
  const genesis = createForkGenesis(
    'shanghai',
    Object.fromEntries(SENDERS.map(({ address }) => [formatData(address), { balance: RICH }])),
  )
  const db = openForWriting(datadir)
  const builder = await createChainBuilder(db, genesis, { traces: true })
  const factories: { readonly address: `0x${string}`; nonce: bigint }[] = []
  const created = (from: string, nonce: bigint) =>
    factories.push({
      address: getContractAddress({ from: from as `0x${string}`, nonce }).toLowerCase() as never,
      nonce: 1n,
    })
  for (let block = 0; block < BLOCKS; block++) {
    const transactions: TransactionPlan[] = []
    for (let left = random.below(4); left > 0; left--) {
      const sender = SENDERS[random.below(SENDERS.length)]
      const value = BigInt(random.below(3))
      const factory = random.below(5) === 0 ? undefined : factories[random.below(factories.length)]
      if (factory === undefined) {
        // The nonce is that of signing: those of this block come before.
        const pending = transactions.filter((each) => each.sender === sender).length
        created(formatData(sender.address), sender.nonce + BigInt(pending))
        const input = concatBytes(parseHex(PREFIX), FACTORY_CODE)
        transactions.push({ sender, input, gasLimit: 1_000_000n, type: 2 })
        continue
      }
      const fails = random.below(4) === 0
      transactions.push({
        ...{ sender, value, gasLimit: 1_000_000n, type: 2 },
        to: parseHex(factory.address),
        input: new Uint8Array(fails ? 1 : 0),
      })
      if (!fails) created(factory.address, factory.nonce++)
    }
    await builder.add({ transactions, extraData: random.bytes(8) })
  }
  db.close()
  return factories.map(({ address }) => address)
}

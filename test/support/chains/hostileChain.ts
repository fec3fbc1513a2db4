import { encodeAbiParameters, encodeFunctionData, parseAbi, toEventHash } from 'viem'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { assemble } from '../../../tools/fixture/assembler.js'
import { createChainBuilder, createSender } from '../../../tools/fixture/chainBuilder.js'
import { createStateGenesis } from './stateChain.js'

/* A chain whose contracts bring text that a page must not take for HTML. */

/** Text that would run a script if it became HTML. It turns the direction of the text around, too. */
export const HOSTILE = `<img src=x onerror="window.hacked=1"><svg onload="window.hacked=1"></svg>\u202e'"><script>window.hacked=1</script>`

/** A token: returns the text as its name and symbol, and logs it as `URI` beside a transfer. */
export const LIAR = `0x${'a1'.repeat(20)}`
/** Text that the contract below has in its first slot, as a string. */
export const STORED = '<b onclick=x>stored</b>'
/** Reverts with the text. */
export const SHOUTER = `0x${'b2'.repeat(20)}`
/** Calls the one before, and passes on its revert data. */
export const CALLER = `0x${'c3'.repeat(20)}`

/** The first account of anvil and Hardhat. */
export const FIRST_ACCOUNT = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

const ZERO = `0x${'00'.repeat(32)}`
const hexByte = (value: number) => value.toString(16).padStart(2, '0')

const DEVELOPMENT_CHAIN_ID = 31_337

/** Writes the chain to `datadir`. Returns the hashes of a transaction that calls the token, and of one that fails. */
export async function writeHostileChain(datadir: string): Promise<{ called: string; failed: string }> {
  const sender = createSender('hostile')
  const genesis = createStateGenesis(sender) as { config: object; alloc: { [address: string]: object } }
  const account = (code: Uint8Array) => ({ balance: '0x0', nonce: '0x1', code: formatData(code) })
  Object.assign(genesis.config, { chainId: DEVELOPMENT_CHAIN_ID })
  Object.assign(genesis.alloc, {
    [LIAR]: account(liarCode()),
    [SHOUTER]: {
      ...account(codeWithData('0 revert', parseHex(`0x08c379a0${encodeText().slice(2)}`))),
      storage: { [ZERO]: `0x${Buffer.from(STORED).toString('hex').padEnd(62, '0')}${hexByte(2 * STORED.length)}` },
    },
    [CALLER]: account(
      assemble(`0 0 0 0 0 ${SHOUTER} gas call pop returndatasize 0 0 returndatacopy returndatasize 0 revert`),
    ),
    [FIRST_ACCOUNT]: { balance: '0x21e19e0c9bab2400000' },
  })
  const db = openForWriting(datadir)
  const builder = await createChainBuilder(db, genesis)
  const setName = encodeFunctionData({
    abi: parseAbi(['function setName(bytes32 node, string newName)']),
    args: [`0x${'11'.repeat(32)}`, HOSTILE],
  })
  const call = (to: string, input: string) => ({ sender, to: parseHex(to), input: parseHex(input), gasLimit: 500_000n })
  const { block } = await builder.add({ transactions: [call(LIAR, setName), call(CALLER, '0x')] })
  const [called, failed] = block.transactions.map(({ hash }) => hash)
  db.close()
  return { called: formatData(called), failed: formatData(failed) }
}

function encodeText(): `0x${string}` {
  return encodeAbiParameters([{ type: 'string' }], [HOSTILE])
}

/** Code that copies the data to memory and runs `then` with its length on the stack. */
function codeWithData(then: string, data: Uint8Array): Uint8Array {
  let code = new Uint8Array()
  // The length of the code depends on the width of its own length.
  for (let start = -1; start !== code.length; ) {
    start = code.length
    code = Uint8Array.from(assemble(`${data.length} ${start} 0 codecopy ${data.length} ${then}`))
  }
  return Uint8Array.from([...code, ...data])
}

function liarCode(): Uint8Array {
  const [uri, transfer] = ['URI(string,uint256)', 'Transfer(address,address,uint256)'].map((text) => toEventHash(text))
  // URI(text, 7), then Transfer(the caller, the token, 32) of the first word of the text.
  const logs = `7 ${uri} dup3 0 log2 address caller ${transfer} 32 0 log3`
  return codeWithData(`${logs} 0 return`, parseHex(encodeText()))
}

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { keccak256 } from '../../src/chain/crypto.js'
import { decodeBlock } from '../../src/chain/eth/block.js'
import { QBFT_FORM, readBftExtraData } from '../../src/chain/eth/families/bft/extraData.js'
import { validatorCall } from '../../src/chain/eth/families/bft/validatorContract.js'
import { familyOf } from '../../src/chain/eth/families/families.js'
import { parseGenesisSpec } from '../../src/chain/eth/genesis.js'
import { InvalidBlock, refuserOf } from '../../src/chain/eth/invalidBlock.js'
import type { Block } from '../../src/chain/eth/types.js'
import { concatBytes } from '../../src/lib/bytes.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createBlockAppender } from '../../src/sync/blockAppender.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { resealBftBlock } from '../support/chains/bftBlocks.js'
import { readSealedChain } from '../support/chains/sealed/sealedChains.js'
import { addressOfPrivateKey } from '../support/signing.js'
import { temporaryDirectory } from '../support/temporary.js'

/* A chain of Besu whose validators a contract names, executed: the seals are checked against the contract. */

const { genesis, blocks } = readSealedChain('besuQbft')
const spec = parseGenesisSpec(genesis)
const family = familyOf(spec)
/** Keys of the validators of the chain (tools/sealedChains). */
const KEYS = [0, 1, 2, 3, 4].map((i) => keccak256(new TextEncoder().encode(`cairn qbft validator ${i}`)))
const ADDRESSES = KEYS.map((key) => formatData(addressOfPrivateKey(key)))
const decode = (index: number) => decodeBlock(parseHex(blocks[index].raw), undefined, family)
const isByContract = ({ header }: Block) => readBftExtraData(header.extraData).validators.length === 0
const FIRST = blocks.findIndex((_, index) => isByContract(decode(index)))

/** The chain up to the block before the first one whose validators the contract names, and `more` blocks after it. */
async function openChain(t: TestContext, more: number) {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const chain = await openWritableChain(db, { genesis }, 'execute')
  const appender = createBlockAppender(chain)
  for (let index = 0; index < FIRST + more; index++) await appender.take({ block: decode(index) }, 16)
  await appender.flush()
  chain.head.commit()
  return { chain, appender }
}

test('blocks are final whose seals are those of the contract', async (t) => {
  const { chain } = await openChain(t, 2)
  assert.deepEqual(chain.head.finality(), { safe: FIRST + 2, finalized: FIRST + 2 })
})

test('seals that are not those of the contract are refused', async (t) => {
  const { chain, appender } = await openChain(t, 1)
  const number = FIRST + 2
  const block = decode(number - 1)
  const validators = blocks[number - 2].validators!
  const [inside, outside] = [true, false].map((isInside) =>
    KEYS.filter((_, i) => validators.includes(ADDRESSES[i]) === isInside),
  )
  const quorum = Math.ceil((2 * validators.length) / 3)
  const lies = [
    { keys: inside.slice(0, quorum - 1), expected: `seals: expected at least ${quorum} of ${validators.length}` },
    { keys: [...inside.slice(0, quorum - 1), outside[0]], expected: 'seals: expected of validators' },
    { keys: inside, miner: addressOfPrivateKey(outside[0]), expected: 'proposer: expected a validator' },
  ]
  for (const { keys, expected, miner = block.header.miner } of lies) {
    const lie = resealBftBlock('qbft', { ...block, header: { ...block.header, miner } }, keys)
    await assert.rejects(appender.take({ block: lie }, 1), (error) => {
      assert.ok(error instanceof InvalidBlock)
      assert.ok(error.message.includes(expected), error.message)
      return true
    })
  }
  const honest = resealBftBlock('qbft', block, inside.slice(0, quorum))
  assert.equal(formatData(honest.hash), blocks[number - 1].hash)
  await appender.take({ block: honest }, 1)
  chain.head.commit()
  assert.equal(chain.head.finality().finalized, number)
})

test('a contract that returns no list of addresses is named', () => {
  const contract = parseHex('0x0000000000000000000000000000000000007777')
  const { verify } = validatorCall(contract, decode(FIRST).header, QBFT_FORM)
  const refuse = refuserOf(FIRST + 1, new Uint8Array(32))
  const word = (value: number) => parseHex(`0x${value.toString(16).padStart(64, '0')}`)
  const wrong = /validators: expected a list from getValidators\(\) of 0x0{36}7777, the block has/
  const outputs = [
    concatBytes(),
    word(32),
    concatBytes(word(32), word(1)),
    concatBytes(word(96), word(0)),
    concatBytes(word(32), word(1), new Uint8Array(32).fill(1)),
    concatBytes(word(32), new Uint8Array(32).fill(255)),
  ]
  for (const output of outputs) assert.throws(() => verify({ output }, refuse), wrong)
  assert.throws(() => verify({ output: concatBytes(), failure: 'execution reverted' }, refuse), /execution reverted/)
  assert.throws(() => verify({ output: concatBytes(word(32), word(0)) }, refuse), /seals: expected of validators/)
})

import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import { bytesToBigInt, equalBytes } from '../../lib/bytes.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { INVALID_PARAMS, invalidParams, SERVER_ERROR, STATE_TRIE_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { arrayOf, data, hash32, quantity, required, slot, type ValueType } from '../core/params.js'
import { accountParam, stateBlockParam } from './commonParams.js'
import { STORAGE_KEY_ERRORS, storageKey } from './getStorageAt.js'
import { STATE_ERRORS } from './schemas.js'

// geth's limit and words.
const MAX_KEYS = 1024
const TOO_MANY_KEYS = `too many storage keys requested (max ${MAX_KEYS}, got …)`

const NO_HASH = new Uint8Array(32)

interface StorageKey {
  readonly slot: Uint8Array // 32
  /** As the response repeats it: data if 32 bytes were sent, else a quantity (geth). */
  readonly text: string
}

const provedKey: ValueType<StorageKey> = {
  schema: storageKey.schema,
  decode: (value, path) => {
    const bytes = storageKey.decode(value, path)
    const isWord = (value as string).replace(/^0[xX]/, '').length > 62
    return { slot: bytes, text: isWord ? formatData(bytes) : formatQuantity(bytesToBigInt(bytes)) }
  },
}

const proofSchema = { type: 'array', items: data.schema }

export const getProof = defineMethod({
  name: 'eth_getProof',
  summary: 'An account and storage slots with their Merkle proofs (EIP-1186) after a block.',
  description:
    'Proofs of the newest block and of the 128 before it are read from stored state tries. For an earlier block the trie is restored ' +
    'in memory from what changed since, which takes time in proportion, up to `--call-timeout`. An account that does not exist has ' +
    'proofs of its absence, and the hashes of no code and no storage; with `--compat geth` these are zero.',
  cost: 'evm',
  classes: ['state'],
  params: [
    accountParam,
    required('storageKeys', arrayOf(provedKey), `up to ${MAX_KEYS} storage slots`),
    stateBlockParam,
  ],
  result: {
    name: 'account with proofs',
    schema: {
      type: 'object',
      properties: {
        ...{
          address: accountParam.schema,
          accountProof: proofSchema,
          balance: quantity.schema,
          codeHash: hash32.schema,
        },
        ...{ nonce: quantity.schema, storageHash: hash32.schema },
        storageProof: {
          type: 'array',
          items: {
            type: 'object',
            properties: { key: slot.schema, value: quantity.schema, proof: proofSchema },
            required: ['key', 'value', 'proof'],
          },
        },
      },
      required: ['address', 'accountProof', 'balance', 'codeHash', 'nonce', 'storageHash', 'storageProof'],
    },
  },
  errors: [
    { code: INVALID_PARAMS, message: TOO_MANY_KEYS },
    ...STORAGE_KEY_ERRORS,
    {
      code: SERVER_ERROR,
      message:
        'eth_getProof: the state trie of block … cannot be restored within 5s: it is … blocks behind the head; ask for one of the ' +
        'last 128 blocks, or raise --call-timeout',
      when: 'a chain with a large state has moved on by many blocks',
    },
    STATE_TRIE_ERROR,
    ...STATE_ERRORS,
  ],
  // Used if the thread did not report how far the block is behind.
  timeoutMessage: (limitMs) =>
    `eth_getProof: the state trie of that block cannot be restored within ${limitMs / 1000}s: it is too far behind the head; ` +
    'ask for one of the last 128 blocks, or raise --call-timeout',
  handler: ({ chain, evm, deadline, compatibility }, address, keys, id) => {
    if (keys.length > MAX_KEYS) throw invalidParams(TOO_MANY_KEYS.replace('…', String(keys.length)))
    const slots = keys.map((key) => key.slot)
    const proved = evm.proveAccount({ address, slots }, requireStateBlock(chain, id), deadline)
    const { nodes, storageRoot, slots: proofs, nonce, balance, codeHash, exists } = proved
    return {
      address: formatData(address),
      accountProof: nodes.map(formatData),
      balance: formatQuantity(balance),
      codeHash: formatData(exists || compatibility !== 'geth' ? codeHash : NO_HASH),
      nonce: formatQuantity(nonce),
      storageHash: formatData(exists || compatibility !== 'geth' ? storageRoot : NO_HASH),
      storageProof: keys.map(({ text }, i) => ({
        key: text,
        value: formatQuantity(bytesToBigInt(proofs[i].value)),
        proof: equalBytes(storageRoot, EMPTY_TRIE_ROOT) ? [] : proofs[i].nodes.map(formatData),
      })),
    }
  },
})

import { bytesToBigInt } from '../../../../lib/bytes.js'
import { formatData, parseHex } from '../../../../lib/hex.js'
import type { Header } from '../../types.js'
import type { ParentCall } from '../execution.js'
import { type BftForm, readBftExtraData, recoverSealers } from './extraData.js'
import { verifySealers } from './sealers.js'

/** The call of `getValidators()`. */
const GET_VALIDATORS = parseHex('0xb7ab4db5')
const WORD = 32

/** Returns the call that names the validators of a block (Besu: TransactionValidatorProvider,
 *  ValidatorContractController; GoQuorum: Backend.snapshot): the contract is asked at the end of the parent. */
export function validatorCall(contract: Uint8Array, header: Header, form: BftForm): ParentCall {
  const asked = `getValidators() of ${formatData(contract)}`
  return {
    to: contract,
    input: GET_VALIDATORS,
    verify: ({ output, failure }, refuse) => {
      const validators = failure === undefined ? decodeAddresses(output) : undefined
      if (validators === undefined) return refuse('validators', `a list from ${asked}`, failure ?? formatData(output))
      verifySealers(recoverSealers(header, readBftExtraData(header.extraData), form), header, validators, refuse)
    },
  }
}

/** Returns hex addresses from the ABI encoding of `address[]`; undefined for anything else. */
function decodeAddresses(output: Uint8Array): string[] | undefined {
  const at = readLength(output, 0)
  const length = at === undefined ? undefined : readLength(output, at)
  if (at === undefined || length === undefined || at + WORD * (length + 1) > output.length) return undefined
  const words = Array.from({ length }, (_, i) => output.subarray(at + WORD * (i + 1), at + WORD * (i + 2)))
  if (words.some((word) => word.subarray(0, WORD - 20).some((byte) => byte !== 0))) return undefined
  return words.map((word) => formatData(word.subarray(WORD - 20)))
}

/** Returns the word at an offset as a number that does not exceed the bytes; undefined for any other. */
function readLength(output: Uint8Array, at: number): number | undefined {
  if (at + WORD > output.length) return undefined
  const value = bytesToBigInt(output.subarray(at, at + WORD))
  return value > BigInt(output.length) ? undefined : Number(value)
}

import { formatData, parseHex } from '../../../../lib/hex.js'
import { DecodeError } from '../../rlp.js'
import type { Header } from '../../types.js'
import { readWordList, WORD } from '../abiWords.js'
import type { ParentCall } from '../execution.js'
import { type BftForm, readBftExtraData, recoverSealers } from './extraData.js'
import { verifySealers } from './sealers.js'

/** The call of `getValidators()`. */
const GET_VALIDATORS = parseHex('0xb7ab4db5')

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
  try {
    const words = readWordList(output, 0, 'validators')
    if (words.some((word) => word.subarray(0, WORD - 20).some((byte) => byte !== 0))) return undefined
    return words.map((word) => formatData(word.subarray(WORD - 20)))
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

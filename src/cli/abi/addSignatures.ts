import { basename } from 'node:path'
import { InvalidSignatureFile, readSignatureFile, type SignatureFile } from '../../decoding/signatures/signatureFile.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import type { SignatureSet, SignatureTable } from '../../store/signatures.js'

/** A file of signatures, read and verified. */
export interface SignatureSource extends SignatureFile {
  /** Name of the file without its ending. */
  readonly name: string
}

/** Reads the file of `--signatures`. @throws UsageError */
export function readSignatureSource(path: string): SignatureSource {
  try {
    const name = basename(path).replace(/\.(txt|csv|tsv|json)$/i, '')
    return { ...readSignatureFile(path), name: name.slice(0, 100) }
  } catch (error) {
    if (error instanceof InvalidSignatureFile) throw new UsageError(`${path}: ${error.message}`, { cause: error })
    throw new UsageError(`abi add: cannot read ${path}: ${messageOf(error)}`, { cause: error })
  }
}

/** Adds the signatures to the database. Returns a line for the user, or JSON. */
export function addSignatures(table: SignatureTable, source: SignatureSource, json: boolean): string {
  const { name, signatures, refused, duplicates } = source
  const id = formatSetId(table.add(name, signatures))
  const [functions, events] = [signatures.function.texts.length, signatures.event.texts.length]
  if (json) return JSON.stringify({ id, name, functions, events, duplicates, refused })
  const { malformed, notCanonical, wrongHash, tooMany } = refused
  return (
    `signatures ${id} (${name}): functions ${functions}, events ${events}; duplicates ${duplicates}; ` +
    `refused: wrong hash ${wrongHash}, not canonical ${notCanonical}, malformed ${malformed}, too many of one selector ${tooMany}`
  )
}

/** Returns the id of a set as users see it: `s1`, since ABIs have ids of their own. */
export function formatSetId(id: number): string {
  return `s${id}`
}

/** Returns what `abi list --json` has of a set. */
export function describeSet({ id, name, functions, events, addedAt }: SignatureSet) {
  return { id: formatSetId(id), name, address: null, events, functions, errors: 0, addedAt, isGuess: true }
}

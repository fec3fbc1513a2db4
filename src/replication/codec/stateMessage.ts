import { STATE_ENTRY_KINDS } from '../../store/replication/stateLog.js'
import { InvalidMessage } from '../errors.js'
import { deflatePayload, inflatePayload } from './deflate.js'
import { MessageReader, MessageWriter } from './messageBytes.js'
import type { StateMessage } from './types.js'

/* An addition to sparse state between two blocks is a version byte and the raw deflate of an entry:
 *
 *   id, block, kind (a byte)
 *   data: bytes; see store/replication/stateEntry.ts
 *   codes: count; each: bytes
 *
 * The message of a block has the entries that precede it, and its own, in the same form. */

/** The first byte of a message with sparse state: that of a block, or an entry. */
export const SPARSE_VERSION = 2

/** Encodes an entry as a message. */
export function encodeStateMessage(entry: StateMessage): Uint8Array {
  const writer = new MessageWriter()
  writeEntry(writer, entry)
  return deflatePayload(SPARSE_VERSION, writer.written())
}

/** Decodes the message of an entry. @throws InvalidMessage unless the bytes are those that `encodeStateMessage`
 *  returns, up to compression and the data */
export function decodeStateMessage(payload: Uint8Array): StateMessage {
  const input = new MessageReader(inflatePayload(payload, [SPARSE_VERSION]))
  const entry = readEntry(input, 'state')
  input.end()
  return entry
}

/** Writes entries after their number. */
export function writeStateEntries(out: MessageWriter, entries: readonly StateMessage[]): void {
  out.integer(entries.length)
  for (const entry of entries) writeEntry(out, entry)
}

/** Reads entries. @throws InvalidMessage also for ids that do not ascend */
export function readStateEntries(input: MessageReader): StateMessage[] {
  const entries: StateMessage[] = []
  const count = input.count('entries', 5)
  for (let i = 0; i < count; i++) {
    const entry = readEntry(input, `entries[${i}]`)
    if (i > 0 && entry.id <= entries[i - 1].id) {
      throw new InvalidMessage(`entries[${i}].id`, `expected more than ${entries[i - 1].id}, got ${entry.id}`)
    }
    entries.push(entry)
  }
  return entries
}

function writeEntry(out: MessageWriter, { id, at, kind, data, codes }: StateMessage): void {
  out.integer(id)
  out.integer(at)
  out.byte(STATE_ENTRY_KINDS.indexOf(kind))
  out.bytes(data)
  out.integer(codes.length)
  for (const code of codes) out.bytes(code)
}

function readEntry(input: MessageReader, part: string): StateMessage {
  const id = input.integer(`${part}.id`)
  if (id === 0) throw new InvalidMessage(`${part}.id`, 'expected at least 1, got 0')
  const at = input.integer(`${part}.at`)
  const kind = input.byte(`${part}.kind`)
  if (kind >= STATE_ENTRY_KINDS.length) {
    throw new InvalidMessage(`${part}.kind`, `expected 0 to ${STATE_ENTRY_KINDS.length - 1}, got ${kind}`)
  }
  const data = input.bytes(`${part}.data`)
  const codes = Array.from({ length: input.count(`${part}.codes`, 1) }, (_, i) => input.bytes(`${part}.codes[${i}]`))
  return { id, at, kind: STATE_ENTRY_KINDS[kind], data, codes }
}

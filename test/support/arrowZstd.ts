import { zstdDecompressSync } from 'node:zlib'
import { CompressionType, compressionRegistry } from 'apache-arrow'

/** Makes apache-arrow read buffers that are compressed with Zstandard. */
export function readZstd(): void {
  compressionRegistry.set(CompressionType.ZSTD, { decode: (bytes) => new Uint8Array(zstdDecompressSync(bytes)) })
}

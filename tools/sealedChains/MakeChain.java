import java.nio.file.*; import java.util.*; import java.util.stream.*; import java.io.*;
import org.apache.tuweni.bytes.*;
import org.hyperledger.besu.config.*;
import org.hyperledger.besu.consensus.qbft.*;
import org.hyperledger.besu.consensus.qbft.validator.*;
import org.hyperledger.besu.consensus.ibft.*;
import org.hyperledger.besu.consensus.common.*;
import org.hyperledger.besu.consensus.common.bft.*;
import org.hyperledger.besu.consensus.common.validator.*;
import org.hyperledger.besu.consensus.common.validator.blockbased.*;
import org.hyperledger.besu.crypto.*;
import org.hyperledger.besu.datatypes.*;
import org.hyperledger.besu.ethereum.*;
import org.hyperledger.besu.ethereum.chain.*;
import org.hyperledger.besu.ethereum.core.*;
import org.hyperledger.besu.ethereum.mainnet.*;
import org.hyperledger.besu.ethereum.mainnet.feemarket.*;
import org.hyperledger.besu.ethereum.trie.forest.*;
import org.hyperledger.besu.ethereum.transaction.TransactionSimulator;
import org.hyperledger.besu.datatypes.Hash;
import org.hyperledger.besu.ethereum.core.Transaction;
import org.hyperledger.besu.evm.internal.EvmConfiguration;
import org.hyperledger.besu.evm.account.Account;
import org.hyperledger.besu.evm.log.LogsBloomFilter;

/**
 * Makes a chain with Besu's own block processor, seals it with given keys, and imports it with Besu's full validation:
 *
 *   node plan.mjs qbft DIR && java MakeChain DIR/genesis.json DIR/plan.txt DIR/out.txt qbft
 *
 * Build it with javac (JDK 17) against the sources of Besu 24.5.2: src/main/java of consensus, ethereum/core, evm, trie, rlp,
 * config, crypto, datatypes, metrics, pki, services, util and plugin-api as -sourcepath, with src/test-support/java of
 * ethereum/core, the processor of org.immutables:value for files with @Value.Immutable, and Besu's dependencies from Maven
 * Central. org.hyperledger.besu.nativelib is not there: classes whose ENABLED is false, and whose CONTEXT is null, stand in.
 */
public class MakeChain {
  public static void main(String[] a) throws Exception {
    boolean qbft = a[3].equals("qbft");
    GenesisConfigFile file = GenesisConfigFile.fromConfig(Files.readString(Path.of(a[0])));
    GenesisConfigOptions options = file.getConfigOptions();
    BftExtraDataCodec codec = qbft ? new QbftExtraDataCodec() : new IbftExtraDataCodec();
    BftBlockInterface blockInterface = new BftBlockInterface(codec);
    BadBlockManager bad = new BadBlockManager();
    ForksSchedule<QbftConfigOptions> qs = qbft ? QbftForksSchedulesFactory.create(options) : null;
    ProtocolSchedule schedule = qbft
      ? QbftProtocolScheduleBuilder.create(options, qs, codec, EvmConfiguration.DEFAULT, MiningParameters.MINING_DISABLED, bad)
      : IbftProtocolScheduleBuilder.create(options, IbftForksSchedulesFactory.create(options), PrivacyParameters.DEFAULT, false, codec, EvmConfiguration.DEFAULT, MiningParameters.MINING_DISABLED, bad);
    BlockHeaderFunctions functions = BftBlockHeaderFunctions.forOnchainBlock(codec);
    GenesisState genesis = GenesisState.fromConfig(file, schedule);
    ForestWorldStateArchive archive = InMemoryKeyValueStorageProvider.createInMemoryWorldStateArchive();
    genesis.writeStateTo(archive.getMutable());
    MutableBlockchain chain = InMemoryKeyValueStorageProvider.createInMemoryBlockchain(genesis.getBlock(), functions);
    EpochManager epochs = new EpochManager(qbft ? options.getQbftConfigOptions().getEpochLength() : options.getBftConfigOptions().getEpochLength());
    Map<Long, List<Address>> overrides = new HashMap<>();
    for (BftFork f : qbft ? options.getTransitions().getQbftForks() : options.getTransitions().getIbftForks())
      f.getValidators().ifPresent(v -> overrides.put(f.getForkBlock(), v.stream().map(Address::fromHexString).collect(Collectors.toList())));
    BlockValidatorProvider byHeader = BlockValidatorProvider.forkingValidatorProvider(chain, epochs, blockInterface, new BftValidatorOverrides(overrides));
    ValidatorProvider provider = byHeader;
    if (qbft) provider = new ForkingValidatorProvider(chain, qs, byHeader,
        new TransactionValidatorProvider(chain, new ValidatorContractController(new TransactionSimulator(chain, archive, schedule, 0L)), qs));
    BftContext context = qbft ? new QbftContext(provider, epochs, blockInterface, Optional.empty()) : new BftContext(provider, epochs, blockInterface);
    ProtocolContext protocol = new ProtocolContext(chain, archive, context, bad);
    SignatureAlgorithm algorithm = SignatureAlgorithmFactory.getInstance();
    List<String> plan = Files.readAllLines(Path.of(a[1]));
    List<KeyPair> keys = Arrays.stream(plan.get(0).split(",")).map(k -> algorithm.createKeyPair(algorithm.createPrivateKey(Bytes32.fromHexString(k)))).toList();
    List<Address> watched = plan.get(1).isBlank() ? List.of() : Arrays.stream(plan.get(1).split(",")).map(Address::fromHexString).toList();
    PrintWriter out = new PrintWriter(a[2]);
    out.println(genesis.getBlock().getHash());
    long shanghai = options.getShanghaiTime().orElse(Long.MAX_VALUE);
    for (String line : plan.subList(2, plan.size())) {
      String[] p = line.split(" ");
      BlockHeader parent = chain.getChainHeadHeader();
      long number = parent.getNumber() + 1, time = parent.getTimestamp() + 1;
      ProtocolSpec spec = ((BftProtocolSchedule) schedule).getByBlockNumberOrTimestamp(number, time);
      KeyPair proposer = keys.get(Integer.parseInt(p[0]));
      int round = Integer.parseInt(p[1]);
      Optional<Vote> vote = p[2].equals("-") ? Optional.empty() : Optional.of(p[2].charAt(0) == '+' ? Vote.authVote(Address.fromHexString(p[2].substring(1))) : Vote.dropVote(Address.fromHexString(p[2].substring(1))));
      List<Integer> signers = Arrays.stream(p[3].split(",")).map(Integer::parseInt).toList();
      List<Transaction> txs = p.length < 5 ? List.of() : Arrays.stream(p[4].split(",")).map(t -> org.hyperledger.besu.ethereum.core.encoding.TransactionDecoder.decodeOpaqueBytes(Bytes.fromHexString(t), org.hyperledger.besu.ethereum.core.encoding.EncodingContext.BLOCK_BODY)).toList();
      boolean byContract = qbft && qs.getFork(number).getValue().isValidatorContractMode();
      Collection<Address> validators = byContract ? List.of() : provider.getValidatorsAfterBlock(parent);
      Bytes vanity = Bytes32.rightPad(Bytes.wrap("cairn".getBytes()));
      BftExtraData unsealed = new BftExtraData(vanity, List.of(), vote, round, validators);
      BlockHeaderBuilder b = BlockHeaderBuilder.create().parentHash(parent.getHash()).ommersHash(Hash.EMPTY_LIST_HASH)
        .coinbase(Util.publicKeyToAddress(proposer.getPublicKey())).stateRoot(Hash.EMPTY_TRIE_HASH).transactionsRoot(BodyValidation.transactionsRoot(txs)).receiptsRoot(Hash.EMPTY_TRIE_HASH)
        .logsBloom(LogsBloomFilter.empty()).difficulty(Difficulty.ONE).number(number).gasLimit(parent.getBaseFee().isEmpty() && spec.getFeeMarket().implementsBaseFee() ? parent.getGasLimit() * 2 : parent.getGasLimit()).gasUsed(0).timestamp(time).extraData(codec.encode(unsealed))
        .mixHash(BftHelpers.EXPECTED_MIX_HASH).nonce(0).blockHeaderFunctions(functions);
      if (spec.getFeeMarket() instanceof BaseFeeMarket market)
        b.baseFee(parent.getBaseFee().isEmpty() ? market.getInitialBasefee() : market.computeBaseFee(number, parent.getBaseFee().orElse(Wei.ZERO), parent.getGasUsed(), market.targetGasUsed(parent)));
      Optional<List<Withdrawal>> withdrawals = time >= shanghai ? Optional.of(List.of()) : Optional.empty();
      if (withdrawals.isPresent()) b.withdrawalsRoot(Hash.EMPTY_TRIE_HASH);
      MutableWorldState world = archive.getMutable(parent.getStateRoot(), parent.getHash()).get();
      BlockHeader draft = b.buildBlockHeader();
      BlockProcessingResult result = spec.getBlockProcessor().processBlock(chain, world, new Block(draft, new BlockBody(txs, List.of(), withdrawals, Optional.empty())));
      if (result.isFailed()) { out.close(); throw new Exception("block " + number + ": " + result.errorMessage.orElse("?")); }
      List<TransactionReceipt> receipts = result.getReceipts();
      b = BlockHeaderBuilder.fromHeader(draft).stateRoot(world.rootHash()).receiptsRoot(BodyValidation.receiptsRoot(receipts)).logsBloom(BodyValidation.logsBloom(receipts))
        .gasUsed(receipts.isEmpty() ? 0 : receipts.get(receipts.size() - 1).getCumulativeGasUsed()).blockHeaderFunctions(functions);
      Hash toSign = new BftBlockHashing(codec).calculateDataHashForCommittedSeal(b.buildBlockHeader(), unsealed);
      List<SECPSignature> seals = signers.stream().<SECPSignature>map(i -> algorithm.sign(toSign, keys.get(i))).toList();
      BlockHeader header = b.extraData(codec.encode(new BftExtraData(vanity, seals, vote, round, validators))).buildBlockHeader();
      Block block = new Block(header, new BlockBody(txs, List.of(), withdrawals, Optional.empty()));
      BlockImportResult imported = spec.getBlockImporter().importBlock(protocol, block, HeaderValidationMode.FULL);
      if (!imported.isImported()) { out.close(); throw new Exception("block " + number + " refused by Besu: " + spec.getBlockValidator().validateAndProcessBlock(protocol, block, HeaderValidationMode.FULL, HeaderValidationMode.FULL, false).errorMessage); }
      StringBuilder s = new StringBuilder(block.toRlp() + " " + block.getHash() + " ");
      s.append(receipts.stream().map(r -> r.getStatus() + ":" + r.getCumulativeGasUsed() + ":" + r.getLogsList().size()).collect(Collectors.joining(",")));
      if (receipts.isEmpty()) s.append("-");
      MutableWorldState after = archive.getMutable(header.getStateRoot(), header.getHash()).get();
      s.append(" ").append(watched.stream().map(w -> { Account acc = after.get(w); return acc == null ? "0x0" : acc.getBalance().toShortHexString(); }).collect(Collectors.joining(",")));
      s.append(" ").append(provider.getValidatorsAfterBlock(header).stream().map(Object::toString).collect(Collectors.joining(",")));
      out.println(s);
    }
    out.close();
    System.out.println(chain.getChainHeadBlockNumber() + " blocks imported by Besu");
  }
}

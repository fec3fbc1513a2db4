import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.*;
import java.io.*; import java.net.*; import java.nio.charset.StandardCharsets; import java.nio.file.*; import java.time.*; import java.util.*; import java.util.concurrent.*; import java.util.stream.*;
import com.fasterxml.jackson.databind.*; import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import com.sun.net.httpserver.HttpServer;
import org.apache.tuweni.bytes.*;
import org.hyperledger.besu.config.*;
import org.hyperledger.besu.consensus.common.*;
import org.hyperledger.besu.consensus.common.bft.*;
import org.hyperledger.besu.consensus.common.bft.blockcreation.*;
import org.hyperledger.besu.consensus.common.bft.events.*;
import org.hyperledger.besu.consensus.common.bft.network.ValidatorMulticaster;
import org.hyperledger.besu.consensus.common.bft.statemachine.*;
import org.hyperledger.besu.consensus.common.validator.*;
import org.hyperledger.besu.consensus.common.validator.blockbased.*;
import org.hyperledger.besu.consensus.qbft.*;
import org.hyperledger.besu.consensus.qbft.adaptor.*;
import org.hyperledger.besu.consensus.qbft.blockcreation.QbftBlockCreatorFactory;
import org.hyperledger.besu.consensus.qbft.core.payload.MessageFactory;
import org.hyperledger.besu.consensus.qbft.core.statemachine.*;
import org.hyperledger.besu.consensus.qbft.core.types.*;
import org.hyperledger.besu.consensus.qbft.core.validation.MessageValidatorFactory;
import org.hyperledger.besu.consensus.qbft.network.QbftGossiperImpl;
import org.hyperledger.besu.consensus.qbft.validator.*;
import org.hyperledger.besu.crypto.*;
import org.hyperledger.besu.cryptoservices.*;
import org.hyperledger.besu.datatypes.*;
import org.hyperledger.besu.ethereum.ProtocolContext;
import org.hyperledger.besu.ethereum.api.jsonrpc.internal.*;
import org.hyperledger.besu.ethereum.api.jsonrpc.internal.methods.*;
import org.hyperledger.besu.ethereum.api.jsonrpc.internal.results.BlockResultFactory;
import org.hyperledger.besu.ethereum.api.query.BlockchainQueries;
import org.hyperledger.besu.ethereum.chain.*;
import org.hyperledger.besu.ethereum.core.*;
import org.hyperledger.besu.ethereum.core.Transaction;
import org.hyperledger.besu.ethereum.core.encoding.*;
import org.hyperledger.besu.ethereum.eth.manager.*;
import org.hyperledger.besu.ethereum.eth.transactions.*;
import org.hyperledger.besu.ethereum.eth.transactions.sorter.*;
import org.hyperledger.besu.ethereum.mainnet.*;
import org.hyperledger.besu.ethereum.p2p.rlpx.wire.*;
import org.hyperledger.besu.ethereum.transaction.TransactionSimulator;
import org.hyperledger.besu.ethereum.trie.forest.ForestWorldStateArchive;
import org.hyperledger.besu.ethereum.trie.pathbased.bonsai.cache.CodeCache;
import org.hyperledger.besu.evm.internal.EvmConfiguration;
import org.hyperledger.besu.metrics.noop.NoOpMetricsSystem;
import org.hyperledger.besu.util.Subscribers;

/**
 * Runs validators of QBFT in one process, with Besu's own consensus, timers, block creation, validation and JSON-RPC; messages
 * between them are passed in memory:
 *
 *   node network.mjs genesis DIR && java Network DIR/genesis.json KEY,KEY,... PORT COUNT
 *   node network.mjs drive PORT DIR && node network.mjs record PORT 60 DIR OUT
 *
 * COUNT of the validators are up at first. JSON-RPC is on 127.0.0.1:PORT, with methods test_* for what a node is not asked: up, down,
 * vote, unvote, heads, validators.
 *
 * Build it with javac (JDK 25) against the sources of Besu after 26.3.0: src/main/java of its modules as -sourcepath, with
 * src/test-support/java of ethereum/core and crypto/services, the processor of org.immutables:value for files with @Value.Immutable, and
 * Besu's dependencies and Mockito from Maven Central. org.hyperledger.besu.nativelib and org.ethereum.beacon.discovery are not there:
 * classes whose ENABLED is false, and a NodeRecord without fields, stand in.
 */
public class Network {
  static final QbftExtraDataCodec CODEC = new QbftExtraDataCodec();
  static final BftBlockInterface INTERFACE = new BftBlockInterface(CODEC);
  static final List<Node> nodes = new ArrayList<>();
  static final NoOpMetricsSystem METRICS = new NoOpMetricsSystem();

  static class Node {
    final NodeKey key; final Address address; final int index; boolean isUp = false;
    final MutableBlockchain chain; final ForestWorldStateArchive archive; final BftProtocolSchedule schedule; final ProtocolContext context;
    final ValidatorProvider validators; final TransactionPool pool; final BftEventQueue queue; final BftMiningCoordinator coordinator; final org.hyperledger.besu.ethereum.p2p.rlpx.connections.PeerConnection connection = mock(org.hyperledger.besu.ethereum.p2p.rlpx.connections.PeerConnection.class, RETURNS_DEEP_STUBS); final Map<String, JsonRpcMethod> methods = new HashMap<>();
    Node(int index, Bytes32 secret, GenesisConfig file) {
      this.index = index;
      key = NodeKeyUtils.createFrom(secret); address = Util.publicKeyToAddress(key.getPublicKey());
      when(connection.getPeerInfo().getAddress()).thenReturn(address);
      org.hyperledger.besu.ethereum.core.Synchronizer sync = mock(org.hyperledger.besu.ethereum.core.Synchronizer.class); when(sync.getSyncStatus()).thenReturn(Optional.empty());
      GenesisConfigOptions options = file.getConfigOptions();
      QbftConfigOptions config = options.getQbftConfigOptions();
      ForksSchedule<QbftConfigOptions> forks = QbftForksSchedulesFactory.create(options);
      MiningConfiguration mining = ImmutableMiningConfiguration.builder().mutableInitValues(ImmutableMiningConfiguration.MutableInitValues.builder().isMiningEnabled(true).minTransactionGasPrice(Wei.ZERO).extraData(Bytes.wrap("cairn".getBytes())).coinbase(address).build()).build();
      schedule = QbftProtocolScheduleBuilder.create(options, forks, CODEC, EvmConfiguration.DEFAULT, mining, new BadBlockManager(), false, BalConfiguration.DEFAULT, METRICS);
      GenesisState genesis = GenesisState.fromConfig(file, schedule, new CodeCache());
      archive = InMemoryKeyValueStorageProvider.createInMemoryWorldStateArchive();
      genesis.writeStateTo(archive.getWorldState());
      chain = InMemoryKeyValueStorageProvider.createInMemoryBlockchain(genesis.getBlock(), BftBlockHeaderFunctions.forOnchainBlock(CODEC));
      EpochManager epochs = new EpochManager(config.getEpochLength());
      Map<Long, List<Address>> overrides = new HashMap<>();
      for (BftFork f : options.getTransitions().getQbftForks()) f.getValidators().ifPresent(v -> overrides.put(f.getForkBlock(), v.stream().map(Address::fromHexString).collect(Collectors.toList())));
      TransactionSimulator simulator = new TransactionSimulator(chain, archive, schedule, mining, 0L);
      BlockValidatorProvider byHeader = BlockValidatorProvider.forkingValidatorProvider(chain, epochs, INTERFACE, new BftValidatorOverrides(overrides));
      validators = new ForkingValidatorProvider(chain, forks, byHeader, new TransactionValidatorProvider(chain, new ValidatorContractController(simulator), forks));
      QbftValidatorProvider qbftValidators = new QbftValidatorProviderAdaptor(validators);
      context = new ProtocolContext.Builder().withBlockchain(chain).withWorldStateArchive(archive).withConsensusContext(new BftContext(validators, epochs, INTERFACE)).build();
      TransactionPoolConfiguration pooling = ImmutableTransactionPoolConfiguration.builder().txPoolMaxSize(500).txPoolLimitByAccountPercentage(org.hyperledger.besu.util.number.Fraction.fromFloat(0.2f)).build();
      GasPricePendingTransactionsSorter pending = new GasPricePendingTransactionsSorter(pooling, Clock.systemUTC(), METRICS, chain::getChainHeadHeader);
      EthScheduler scheduler = new EthScheduler(1, 1, 1, METRICS);
      EthContext eth = mock(EthContext.class, RETURNS_DEEP_STUBS);
      when(eth.getScheduler()).thenReturn(scheduler);
      when(eth.getEthPeers().subscribeConnect(any())).thenReturn(1L);
      pool = new TransactionPool(() -> pending, schedule, context, mock(TransactionBroadcaster.class), eth, new TransactionPoolMetrics(METRICS), pooling, new BlobCache());
      pool.setEnabled();
      chain.observeBlockAdded(pool);
      queue = new BftEventQueue(1000);
      BftExecutors executors = BftExecutors.create(METRICS, BftExecutors.ConsensusType.QBFT);
      QbftBlockCodec encoder = new QbftBlockCodecAdaptor(CODEC);
      QbftBlockCreatorFactory creators = new QbftBlockCreatorFactory(pool, context, schedule, forks, mining, address, CODEC, scheduler);
      QbftBlockInterface qbftInterface = new QbftBlockInterfaceAdaptor(INTERFACE);
      ProposerSelector proposers = new BftProposerSelector(chain, INTERFACE, true, validators);
      ValidatorMulticaster wire = new ValidatorMulticaster() {
        public void send(MessageData message) { send(message, List.of()); }
        public void send(MessageData message, Collection<Address> without) {
          if (!isUp) return;
          Collection<Address> wanted = validators.getValidatorsAtHead();
          for (Node to : nodes) if (to != Node.this && to.isUp && wanted.contains(to.address) && !without.contains(to.address)) to.queue.add(new BftReceivedMessageEvent(new DefaultMessage(connection, message)));
        }
      };
      UniqueMessageMulticaster unique = new UniqueMessageMulticaster(wire, config.getGossipedHistoryLimit());
      QbftGossiper gossiper = new QbftGossiperImpl(unique, encoder);
      QbftFinalState state = new QbftFinalStateImpl(validators, key, address, proposers, unique, new RoundTimer(queue, new BftRoundExpiryTimeCalculator(Duration.ofSeconds(config.getRequestTimeoutSeconds())), executors), new BlockTimer(queue, forks, executors, Clock.systemUTC()), new QbftBlockCreatorFactoryAdaptor(creators, CODEC), Clock.systemUTC());
      QbftProtocolScheduleAdaptor qbftSchedule = new QbftProtocolScheduleAdaptor(schedule, context);
      MessageValidatorFactory messageValidators = new MessageValidatorFactory(proposers, qbftSchedule, qbftValidators, qbftInterface);
      Subscribers<QbftMinedBlockObserver> mined = Subscribers.create();
      mined.subscribe(block -> { Block b = AdaptorUtil.toBesuBlock(block); for (Node to : nodes) if (to != Node.this && to.isUp) to.catchUp(); });
      MessageFactory messages = new MessageFactory(key, encoder);
      FutureMessageBuffer<QbftMessage> later = new FutureMessageBuffer<>(config.getFutureMessagesMaxDistance(), config.getFutureMessagesLimit(), chain.getChainHeadBlockNumber(), new FutureMessageSynchronizerHandler((n, peer) -> catchUp()));
      QbftRoundFactory rounds = new QbftRoundFactory(state, qbftInterface, qbftSchedule, mined, messageValidators, messages);
      QbftController controller = new QbftController(new QbftBlockchainAdaptor(chain), state, new QbftBlockHeightManagerFactory(state, rounds, messageValidators, messages, qbftValidators, new QbftValidatorModeTransitionLoggerAdaptor(new ValidatorModeTransitionLogger(forks))), gossiper, new MessageTracker(config.getDuplicateMessageLimit()), later, encoder);
      BftEventHandler handler = new BftEventHandlerAdaptor(controller);
      coordinator = new BftMiningCoordinator(executors, handler, new BftProcessor(queue, new EventMultiplexer(handler)), creators, chain, queue);
      chain.observeBlockAdded(o -> { var f = forks.getFork(o.getHeader().getNumber() + 1, o.getHeader().getTimestamp()).getValue(); mining.setBlockPeriodSeconds(f.getBlockPeriodSeconds()); mining.setEmptyBlockPeriodSeconds(f.getEmptyBlockPeriodSeconds()); });
      BlockchainQueries queries = new BlockchainQueries(schedule, chain, archive, mining);
      BlockResultFactory results = new BlockResultFactory();
      for (JsonRpcMethod m : List.of(new EthGetBlockByNumber(queries, results, sync), new EthGetBlockByHash(queries, results), new EthChainId(options.getChainId()), new EthBlockNumber(queries), new DebugGetRawBlock(queries), new EthGetBlockReceipts(queries, schedule), new EthGetTransactionReceipt(queries, schedule), new EthGetProof(queries), new EthGetCode(queries), new EthGetBalance(queries), new EthGetTransactionCount(queries, pool), new EthCall(queries, simulator, METRICS)))
        methods.put(m.getName(), m);
    }
    /** Blocks that another node has and this one has not, imported with full validation. */
    synchronized void catchUp() {
      for (Node from : nodes) {
        if (from == this || !from.isUp) continue;
        while (from.chain.getChainHeadBlockNumber() > chain.getChainHeadBlockNumber()) {
          Block b = from.chain.getBlockByNumber(chain.getChainHeadBlockNumber() + 1).get();
          var spec = schedule.getByBlockNumberOrTimestamp(b.getHeader().getNumber(), b.getHeader().getTimestamp());
          BlockImportResult r = spec.getBlockImporter().importBlock(context, b, HeaderValidationMode.FULL, HeaderValidationMode.FULL);
          if (!r.isImported()) { System.out.println("node " + index + " refused block " + b.getHeader().getNumber()); return; }
        }
      }
    }
    void up() { isUp = true; catchUp(); queue.start(); coordinator.enable(); coordinator.start(); }
    void down() { isUp = false; coordinator.stop(); queue.stop(); }
    void vote(boolean add, Address who) { VoteProvider v = validators.getVoteProviderAtHead().get(); if (add) v.authVote(who); else v.dropVote(who); }
    void unvote(Address who) { validators.getVoteProviderAtHead().ifPresent(v -> v.discardVote(who)); }
  }

  public static void main(String[] a) throws Exception {
    // Network GENESIS KEYS PORT COUNT
    GenesisConfig file = GenesisConfig.fromConfig(Files.readString(Path.of(a[0])));
    String[] keys = a[1].split(",");
    for (int i = 0; i < keys.length; i++) nodes.add(new Node(i, Bytes32.fromHexString(keys[i]), file));
    ObjectMapper json = new ObjectMapper().registerModule(new Jdk8Module());
    HttpServer http = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(a[2])), 0);
    http.setExecutor(Executors.newFixedThreadPool(4));
    http.createContext("/", x -> {
      Object answer;
      JsonNode request = json.readTree(x.getRequestBody().readAllBytes());
      if (request.isArray()) { List<Object> all = new ArrayList<>(); for (JsonNode r : request) all.add(answer(json, r)); answer = all; } else answer = answer(json, request);
      byte[] out = json.writeValueAsBytes(answer);
      x.getResponseHeaders().set("content-type", "application/json");
      x.sendResponseHeaders(200, out.length); x.getResponseBody().write(out); x.close();
    });
    http.start();
    int count = Integer.parseInt(a[3]);
    for (int i = 0; i < count; i++) nodes.get(i).up();
    System.out.println("up " + nodes.stream().map(n -> n.address.toString()).collect(Collectors.joining(",")));
  }

  static Object answer(ObjectMapper json, JsonNode r) {
    Map<String, Object> out = new LinkedHashMap<>(); out.put("jsonrpc", "2.0"); out.put("id", json.convertValue(r.get("id"), Object.class));
    String name = r.get("method").asText(); Object[] params = r.has("params") ? json.convertValue(r.get("params"), Object[].class) : new Object[0];
    try {
      switch (name) {
        case "test_up": nodes.get((Integer) params[0]).up(); out.put("result", true); return out;
        case "test_down": nodes.get((Integer) params[0]).down(); out.put("result", true); return out;
        case "test_vote": nodes.get((Integer) params[0]).vote((Boolean) params[1], Address.fromHexString((String) params[2])); out.put("result", true); return out;
        case "test_unvote": nodes.get((Integer) params[0]).unvote(Address.fromHexString((String) params[1])); out.put("result", true); return out;
        case "test_heads": out.put("result", nodes.stream().map(n -> n.chain.getChainHeadBlockNumber()).toList()); return out;
        case "test_validatorsAfter": out.put("result", nodes.get(0).validators.getValidatorsAfterBlock(nodes.get(0).chain.getBlockHeader((Integer) params[0]).get()).stream().map(Object::toString).toList()); return out;
        case "test_validators": out.put("result", nodes.get(0).validators.getValidatorsAtHead().stream().map(Object::toString).toList()); return out;
        case "eth_sendRawTransaction":
          Transaction tx = TransactionDecoder.decodeOpaqueBytes(Bytes.fromHexString((String) params[0]), EncodingContext.POOLED_TRANSACTION);
          String problem = null;
          for (Node n : nodes) if (n.isUp) { var v = n.pool.addTransactionViaApi(tx); if (!v.isValid()) problem = v.getInvalidReason() + " " + v.getErrorMessage(); }
          if (problem != null) out.put("error", Map.of("code", -32000, "message", problem)); else out.put("result", tx.getHash().toString());
          return out;
      }
      JsonRpcMethod m = nodes.get(0).methods.get(name);
      if (m == null) { out.put("error", Map.of("code", -32601, "message", "Method not found")); return out; }
      return m.response(new JsonRpcRequestContext(json.treeToValue(r, JsonRpcRequest.class)));
    } catch (Throwable e) { out.put("error", Map.of("code", -32000, "message", String.valueOf(e))); if (!(e instanceof RuntimeException) || e instanceof NullPointerException) e.printStackTrace(); return out; }
  }
}

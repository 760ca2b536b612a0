// Pickles are written here by hand, in the words of Python's pickletools.
#include "trainer/checkpoint/pt/pickle_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = PickleNode::Kind;

const std::set<std::string, std::less<>> kAllowed = {"collections.OrderedDict",
                                                     "torch.float32"};

PickleTree Parsed(const std::string& bytes) {
  absl::StatusOr<PickleTree> tree = ParsePickle(bytes, kAllowed);
  EXPECT_TRUE(tree.ok()) << tree.status();
  return tree.ok() ? *std::move(tree) : PickleTree{.nodes = {{}}};
}

absl::Status Error(const std::string& bytes) {
  return ParsePickle(bytes, kAllowed).status();
}

const PickleNode& Root(const PickleTree& tree) { return tree.nodes[tree.root]; }

int64_t Integer(const std::string& bytes) {
  const PickleTree tree = Parsed(bytes);
  EXPECT_EQ(Root(tree).kind, Kind::kInt);
  return Root(tree).integer;
}

TEST(PickleTreeTest, ReadsNumbers) {
  EXPECT_EQ(Integer("K\xff."), 255);
  EXPECT_EQ(Integer("M\x01\x02."), 513);
  EXPECT_EQ(Integer("J\xff\xff\xff\xff."), -1);
  EXPECT_EQ(Integer(std::string("\x8a\x00.", 3)), 0);
  EXPECT_EQ(Integer("\x8a\x01\xfe."), -2);
  EXPECT_EQ(Integer(std::string("\x8a\x05\x00\x00\x00\x00\x01.", 8)),
            int64_t{1} << 32);
  EXPECT_EQ(
      Integer(std::string("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80.", 11)),
      INT64_MIN);
  EXPECT_EQ(Root(Parsed(std::string("G\xbf\xd0\0\0\0\0\0\0.", 10))).number,
            -0.25);
  EXPECT_EQ(Root(Parsed("\x88.")).integer, 1);
  EXPECT_EQ(Root(Parsed("N.")).kind, Kind::kNone);
}

TEST(PickleTreeTest, ReadsContainersAndReferences) {
  // {'a': [1, 2], 'b': the same list}, with a frame and short texts.
  const PickleTree tree =
      Parsed(std::string("\x80\x04\x95\x1e\0\0\0\0\0\0\0}\x94(\x8c\x01"
                         "a\x94]\x94(K\x01K\x02"
                         "eX\x01\0\0\0bh\x02u.",
                         36));
  const PickleNode& root = Root(tree);
  ASSERT_EQ(root.kind, Kind::kDict);
  ASSERT_EQ(root.items.size(), 4);
  EXPECT_EQ(tree.nodes[root.items[0]].text, "a");
  EXPECT_EQ(tree.nodes[root.items[2]].text, "b");
  EXPECT_EQ(root.items[1], root.items[3]);
  std::vector<int64_t> numbers;
  for (const uint32_t item : tree.nodes[root.items[1]].items) {
    numbers.push_back(tree.nodes[item].integer);
  }
  EXPECT_THAT(numbers, ElementsAre(1, 2));
}

TEST(PickleTreeTest, TurnsCallsIntoNodes) {
  const PickleTree dict = Parsed("ccollections\nOrderedDict\n)RK\x01K\x02s}b.");
  EXPECT_EQ(Root(dict).kind, Kind::kDict);
  EXPECT_EQ(Root(dict).items.size(), 2);
  const PickleTree call = Parsed("ctorch\nfloat32\nK\x01K\x02\x86R.");
  ASSERT_EQ(Root(call).kind, Kind::kCall);
  EXPECT_EQ(call.nodes[Root(call).items[0]].text, "torch.float32");
  EXPECT_EQ(call.nodes[Root(call).items[1]].items.size(), 2);
  EXPECT_EQ(Root(Parsed("\x8c\x05torch\x8c\x07"
                        "float32\x93."))
                .text,
            "torch.float32");
  EXPECT_EQ(Root(Parsed("K\x01Q.")).kind, Kind::kPersistent);
}

TEST(PickleTreeTest, RefusesEveryOtherGlobalAndOperation) {
  const absl::Status global = Error("cos\nsystem\n(X\x02\0\0\0lstR.");
  EXPECT_EQ(global.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(global.message(),
            "byte 0: needs \"os.system\", which a file of tensors may not use");
  EXPECT_EQ(
      Error("\x8c\x02os\x8c\x06system\x93.").message(),
      "byte 12: needs \"os.system\", which a file of tensors may not use");
  // A name that is allowed, taken apart at another point.
  EXPECT_FALSE(Error("ctorch.float32\n\n.").ok());
  // INST, OBJ, NEWOBJ, EXT1, PERSID, LONG, BYTES, NEXT_BUFFER, and the like.
  const std::string allowed =
      "(.JKMNQRXabcehj]qrstu})G\x80\x85\x86\x87\x88\x89\x8a\x8c\x93\x94\x95";
  for (int op = 0; op < 256; ++op) {
    if (allowed.find(static_cast<char>(op)) != std::string::npos) continue;
    const absl::Status status = Error(std::string(1, static_cast<char>(op)));
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << op;
  }
}

TEST(PickleTreeTest, NamesTheByteOfDamage) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "byte 0: the pickle is cut off"},
      {"K", "byte 0: the pickle is cut off"},
      {"K\x01", "byte 2: the pickle is cut off"},
      {"X\xff\xff\xff\xff", "byte 0: the pickle is cut off"},
      {"ctorch", "byte 0: the pickle is cut off"},
      {"K\x01.x", "byte 2: bytes follow the end"},
      {"K\x01K\x02.", "byte 4: the pickle does not leave one value"},
      {"(K\x01.", "byte 3: the pickle does not leave one value"},
      {".", "byte 0: the pickle does not leave one value"},
      {"\x86.", "byte 0: the pickle takes a value that is not there"},
      {"K\x01(\x85.", "byte 3: the pickle takes a value that is not there"},
      {"t.", "byte 0: the pickle has no mark"},
      {"]K\x01K\x02s.", "byte 5: the pickle has another kind of value"},
      {"}(K\x01u.", "byte 4: the pickle has a key without a value"},
      {"h\x01.", "byte 0: the pickle refers to a value"},
      {"q\x01.", "byte 0: the pickle keeps no value"},
      {"K\x01)R.", "byte 3: the pickle calls something"},
      {"\x8c\x01\xff.", "byte 0: the pickle has a text that is not UTF-8"},
      {"K\x01K\x02\x93.", "byte 4: the pickle names a global"},
      {"K\x01K\x02"
       "b.",
       "byte 4: the pickle has another kind of value"},
  };
  for (const auto& [bytes, message] : cases) {
    const absl::Status status = Error(bytes);
    EXPECT_TRUE(absl::IsDataLoss(status)) << message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
  EXPECT_THAT(std::string(Error("\x80\x06N.").message()),
              HasSubstr("newer protocol"));
  EXPECT_THAT(std::string(Error("\x8a\x09").message()),
              HasSubstr("over 64 bits"));
}

// The example in the header.
absl::StatusOr<Kind> KindOfRoot(std::string_view bytes) {
  absl::StatusOr<PickleTree> tree =
      ParsePickle(bytes, {"collections.OrderedDict"});
  if (!tree.ok()) return tree.status();  // "byte 17: …"
  const PickleNode& root = tree->nodes[tree->root];
  return root.kind;
}

TEST(PickleTreeTest, Example) { EXPECT_EQ(*KindOfRoot("]."), Kind::kList); }

TEST(PickleTreeTest, NamesKinds) {
  EXPECT_EQ(KindName(Kind::kDict), "a dictionary");
  EXPECT_EQ(KindName(Kind::kPersistent), "a storage");
}

}  // namespace
}  // namespace trainyard

#include "trainer/exported/allowed_operators.h"

#include <set>

namespace trainyard {
namespace {

// Names in the namespace aten.
constexpr std::string_view kAllowed =
    "__and__ __iand__ __ior__ __ixor__ __lshift__ __or__ __rshift__ __xor__ "
    "_adaptive_avg_pool2d _adaptive_avg_pool3d _cdist_forward _conj "
    "_convolution _grouped_mm _log_softmax _native_batch_norm_legit "
    "_native_batch_norm_legit_no_training _softmax _to_copy _trilinear "
    "_unsafe_index _unsafe_view _upsample_bicubic2d_aa "
    "_upsample_bilinear2d_aa _upsample_nearest_exact1d "
    "_upsample_nearest_exact2d _upsample_nearest_exact3d _weight_norm "
    "_weight_norm_interface abs absolute acos acosh adaptive_avg_pool1d "
    "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d "
    "adaptive_max_pool2d adaptive_max_pool3d add addbmm addcdiv addcmul "
    "addmm addmv addr alias all alpha_dropout amax amin aminmax any arange "
    "arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin "
    "argsort as_strided asin asinh atan atan2 atanh atleast_1d atleast_2d "
    "atleast_3d avg_pool1d avg_pool2d avg_pool3d baddbmm batch_norm "
    "bernoulli bilinear binary_cross_entropy "
    "binary_cross_entropy_with_logits bitwise_and bitwise_left_shift "
    "bitwise_not bitwise_or bitwise_right_shift bitwise_xor block_diag bmm "
    "broadcast_tensors broadcast_to bucketize cartesian_prod cat cauchy "
    "cdist ceil celu chain_matmul channel_shuffle chunk clamp clamp_max "
    "clamp_min clip clone col2im column_stack complex concat concatenate "
    "conj constant_pad_nd contiguous conv1d conv2d conv3d conv_transpose1d "
    "conv_transpose2d conv_transpose3d convolution copy copysign corrcoef "
    "cos cosh cosine_embedding_loss cosine_similarity cov cross "
    "cross_entropy_loss cummax cummin cumprod cumsum cumulative_trapezoid "
    "deg2rad detach diag diag_embed diagonal diagonal_scatter diff digamma "
    "dist div divide dot dropout dropout1d dropout2d dropout3d dsplit dstack "
    "einsum elu embedding embedding_renorm empty empty_like eq erf erfc "
    "erfinv exp exp2 expand expand_as expm1 exponential eye "
    "feature_alpha_dropout feature_dropout fft_fft fft_fft2 fft_fftfreq "
    "fft_fftn fft_fftshift fft_hfft fft_ifft fft_ifft2 fft_ifftn "
    "fft_ifftshift fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft "
    "fft_rfft2 fft_rfftfreq fft_rfftn fill fix flatten flip fliplr flipud "
    "float_power floor floor_divide fmax fmin fmod frac frobenius_norm full "
    "full_like gather ge gelu geometric glu greater greater_equal "
    "grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru gru_cell gt "
    "hardshrink hardsigmoid hardswish hardtanh heaviside "
    "hinge_embedding_loss hsplit hstack huber_loss hypot i0 im2col imag "
    "index index_add index_copy index_fill index_put index_reduce "
    "index_select inner instance_norm inverse isclose isfinite isin isinf "
    "isnan isneginf isposinf isreal istft kl_div kron kthvalue l1_loss "
    "layer_norm ldexp le leaky_relu lerp less less_equal lgamma lift_fresh "
    "lift_fresh_copy linalg_cholesky linalg_cross linalg_det linalg_diagonal "
    "linalg_eigh linalg_eigvalsh linalg_householder_product linalg_inv "
    "linalg_lstsq linalg_lu linalg_lu_factor linalg_lu_solve linalg_matmul "
    "linalg_matrix_exp linalg_matrix_norm linalg_matrix_power "
    "linalg_multi_dot linalg_norm linalg_pinv linalg_qr linalg_slogdet "
    "linalg_solve linalg_solve_triangular linalg_svd linalg_svdvals "
    "linalg_vecdot linalg_vector_norm linear linspace log log10 log1p log2 "
    "log_normal log_sigmoid log_softmax logaddexp logaddexp2 logcumsumexp "
    "logdet logical_and logical_not logical_or logical_xor logit logspace "
    "logsumexp lstm lstm_cell lt margin_ranking_loss masked_fill "
    "masked_scatter masked_select matmul matrix_exp matrix_power max "
    "max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices "
    "max_pool3d max_pool3d_with_indices maximum mean median meshgrid min "
    "minimum mish mm mode moveaxis movedim mse_loss mul multi_margin_loss "
    "multilabel_margin_loss multinomial multiply mv mvlgamma nan_to_num "
    "nanmean nanmedian nanquantile nansum narrow narrow_copy "
    "native_batch_norm native_dropout native_group_norm native_layer_norm ne "
    "neg negative new_empty new_full new_ones new_zeros nll_loss nll_loss2d "
    "nll_loss_nd nonzero norm norm_except_dim normal normal_functional "
    "not_equal nuclear_norm numpy_T one_hot ones ones_like orgqr outer pad "
    "pairwise_distance pdist permute pixel_shuffle pixel_unshuffle poisson "
    "poisson_nll_loss polar polygamma positive pow prelu prod quantile "
    "rad2deg rand rand_like randint randint_like randn randn_like random "
    "randperm ravel real reciprocal reflection_pad1d reflection_pad2d "
    "reflection_pad3d relu relu6 remainder renorm repeat repeat_interleave "
    "replication_pad1d replication_pad2d replication_pad3d reshape "
    "reshape_as resolve_conj resolve_neg result_type rms_norm rnn_relu "
    "rnn_relu_cell rnn_tanh rnn_tanh_cell roll rot90 round row_stack rrelu "
    "rsqrt rsub scalar_tensor scaled_dot_product_attention scatter "
    "scatter_add scatter_reduce searchsorted select select_scatter selu sgn "
    "sigmoid sign signbit silu sin sinc sinh slice slice_scatter "
    "smooth_l1_loss soft_margin_loss softmax softplus softshrink sort "
    "special_bessel_j0 special_digamma special_entr special_erf special_erfc "
    "special_erfcx special_erfinv special_exp2 special_expit special_expm1 "
    "special_gammainc special_gammaincc special_gammaln special_i0 "
    "special_i0e special_i1 special_i1e special_log1p special_log_ndtr "
    "special_log_softmax special_logit special_logsumexp special_ndtr "
    "special_ndtri special_polygamma special_round special_sinc "
    "special_softmax special_xlog1py special_xlogy split split_with_sizes "
    "sqrt square squeeze stack std std_mean stft sub subtract sum "
    "sum_to_size svd swapaxes swapdims t take take_along_dim tan tanh "
    "tensor_split tensordot threshold tile to topk trace transpose trapezoid "
    "trapz tril tril_indices triplet_margin_loss triu triu_indices "
    "true_divide trunc type_as unbind unflatten unfold uniform unsafe_chunk "
    "unsafe_split unsafe_split_with_sizes unsqueeze upsample_bicubic2d "
    "upsample_bilinear2d upsample_linear1d upsample_nearest1d "
    "upsample_nearest2d upsample_nearest3d upsample_trilinear3d vander var "
    "var_mean vdot view view_as view_as_complex view_as_real vsplit vstack "
    "where xlogy zero zeros zeros_like";

bool IsListed(std::string_view name) {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> words;
    std::string_view rest = kAllowed;
    while (!rest.empty()) {
      const size_t end = rest.find(' ');
      words.insert(rest.substr(0, end));
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    return words;
  }();
  return names.contains(name);
}

// Those of a listed name that take sizes on trust from the values of a tensor.
bool IsRefusedOverload(std::string_view name, std::string_view overload) {
  const bool is_recurrent = name == "lstm" || name == "gru" ||
                            name == "rnn_relu" || name == "rnn_tanh";
  return (is_recurrent && overload != "input") ||
         (name == "repeat_interleave" && overload == "Tensor");
}

}  // namespace

bool IsAllowedOperator(std::string_view op, std::string_view overload) {
  constexpr std::string_view kNamespace = "aten::";
  if (!op.starts_with(kNamespace)) return false;
  std::string_view name = op.substr(kNamespace.size());
  if (overload == "out" || overload.ends_with("_out")) return false;
  if (!IsListed(name) && name.ends_with('_')) name.remove_suffix(1);
  return IsListed(name) && !IsRefusedOverload(name, overload);
}

}  // namespace trainyard

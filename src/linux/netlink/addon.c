/*
 * netlink sockets for Node.js: the six calls that Node itself has no door for.
 *
 *   open(protocol, groups, buffer)  -> fd, or -errno; buffer: bytes for receiving and sending, 0 for the system's default
 *   port(fd)                        -> the port id that the kernel gave the socket, or -errno
 *   send(fd, bytes)                 -> bytes sent, or -errno
 *   recv(fd, bytes)                 -> length of one datagram of the kernel's, or -errno (-EAGAIN: none; -EMSGSIZE: it was longer)
 *   poll(fd, callback)              -> 0, or -errno; callback(status) when the socket is readable or has an error
 *   close(fd)                       -> 0, or -errno; ends polling first
 *
 * Nothing is linked: every symbol is in the node process, so one file serves all versions of Node.js from 20 on.
 * Nothing here knows messages; that is message.ts and bytes.ts. For the main thread only: sockets are not closed when a worker ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/netlink.h>
#include <node_api.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

/* NETLINK_GET_STRICT_CHK: newer than some libc headers. */
#ifndef NETLINK_GET_STRICT_CHK
#define NETLINK_GET_STRICT_CHK 12
#endif
#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

/* One polled socket. Lives from poll() until libuv has let go of it. */
struct watch {
  uv_poll_t handle;
  int fd;
  int closing;
  napi_env env;
  napi_ref callback;
  napi_async_context context;
  struct watch *next;
};

static struct watch *watches;

static napi_value number(napi_env env, int64_t value) {
  napi_value result = NULL;
  napi_create_int64(env, value, &result);
  return result;
}

/* Reads up to three arguments as 32-bit numbers; 0 where one is missing or something else. */
static void read_numbers(napi_env env, napi_callback_info info, size_t count, uint32_t out[3]) {
  napi_value values[3] = {NULL, NULL, NULL};
  size_t given = 3;
  napi_get_cb_info(env, info, &given, values, NULL, NULL);
  for (size_t i = 0; i < count; i++) {
    out[i] = 0;
    if (i < given) napi_get_value_uint32(env, values[i], &out[i]);
  }
}

/* Reads (fd, bytes). Returns 0 when the second argument is no Uint8Array. */
static int read_bytes(napi_env env, napi_callback_info info, int *fd, void **data, size_t *length) {
  napi_value values[2] = {NULL, NULL};
  size_t given = 2;
  napi_typedarray_type type;
  int32_t number_given = -1;
  bool is_array = false;
  napi_get_cb_info(env, info, &given, values, NULL, NULL);
  if (given < 2) return 0;
  napi_get_value_int32(env, values[0], &number_given);
  *fd = number_given;
  if (napi_is_typedarray(env, values[1], &is_array) != napi_ok || !is_array) return 0;
  if (napi_get_typedarray_info(env, values[1], &type, length, data, NULL, NULL) != napi_ok) return 0;
  return type == napi_uint8_array;
}

static napi_value open_socket(napi_env env, napi_callback_info info) {
  uint32_t in[3];
  read_numbers(env, info, 3, in);
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, (int)in[0]);
  if (fd < 0) return number(env, -errno);

  int on = 1;
  int size = (int)in[2];
  /* Older kernels lack some of these; without them errors have no text and dumps are not filtered, and callers cope with both. */
  setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof on);
  if (size > 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) < 0) {
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  }
  if (size > 0 && setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) < 0) {
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  }

  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = in[1]};
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
    int error = errno;
    close(fd);
    return number(env, -error);
  }
  return number(env, fd);
}

static napi_value port_of_socket(napi_env env, napi_callback_info info) {
  uint32_t in[3];
  read_numbers(env, info, 1, in);
  struct sockaddr_nl address = {0};
  socklen_t length = sizeof address;
  if (getsockname((int)in[0], (struct sockaddr *)&address, &length) < 0) return number(env, -errno);
  return number(env, address.nl_pid);
}

static napi_value send_bytes(napi_env env, napi_callback_info info) {
  int fd;
  void *data;
  size_t length;
  if (!read_bytes(env, info, &fd, &data, &length)) return number(env, -EINVAL);
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  ssize_t sent = sendto(fd, data, length, 0, (struct sockaddr *)&kernel, sizeof kernel);
  return number(env, sent < 0 ? -errno : sent);
}

static napi_value receive_bytes(napi_env env, napi_callback_info info) {
  int fd;
  void *data;
  size_t length;
  if (!read_bytes(env, info, &fd, &data, &length)) return number(env, -EINVAL);
  for (;;) {
    struct sockaddr_nl sender = {0};
    socklen_t sender_length = sizeof sender;
    ssize_t got = recvfrom(fd, data, length, MSG_TRUNC, (struct sockaddr *)&sender, &sender_length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return number(env, -errno);
    /* Any process may send to our port id; only the kernel, port 0, is believed. */
    if (sender.nl_pid != 0) continue;
    return number(env, (size_t)got > length ? -EMSGSIZE : got);
  }
}

static void on_ready(uv_poll_t *handle, int status, int events) {
  (void)events;
  struct watch *watch = handle->data;
  napi_env env = watch->env;
  napi_handle_scope scope;
  napi_value callback, receiver, argument;

  napi_open_handle_scope(env, &scope);
  napi_get_reference_value(env, watch->callback, &callback);
  napi_get_global(env, &receiver);
  argument = number(env, status);
  if (napi_make_callback(env, watch->context, receiver, callback, 1, &argument, NULL) == napi_pending_exception) {
    napi_value exception;
    napi_get_and_clear_last_exception(env, &exception);
    napi_fatal_exception(env, exception);
  }
  napi_close_handle_scope(env, scope);

  /* After POLLERR (the receive queue overflowed) libuv stops the handle: without this line the socket stays deaf for ever. */
  if (status < 0 && !watch->closing) uv_poll_start(&watch->handle, UV_READABLE, on_ready);
}

static napi_value poll_socket(napi_env env, napi_callback_info info) {
  napi_value values[2] = {NULL, NULL};
  size_t given = 2;
  int32_t fd = -1;
  uv_loop_t *loop;
  napi_value name;
  napi_valuetype type = napi_undefined;
  napi_get_cb_info(env, info, &given, values, NULL, NULL);
  if (given < 2) return number(env, -EINVAL);
  napi_get_value_int32(env, values[0], &fd);
  napi_typeof(env, values[1], &type);
  if (type != napi_function || napi_get_uv_event_loop(env, &loop) != napi_ok) return number(env, -EINVAL);

  struct watch *watch = calloc(1, sizeof *watch);
  if (watch == NULL) return number(env, -ENOMEM);
  int error = uv_poll_init(loop, &watch->handle, fd);
  if (error < 0) {
    free(watch);
    return number(env, error);
  }
  watch->fd = fd;
  watch->env = env;
  watch->handle.data = watch;
  napi_create_reference(env, values[1], 1, &watch->callback);
  napi_create_string_utf8(env, "netlink", NAPI_AUTO_LENGTH, &name);
  napi_async_init(env, NULL, name, &watch->context);
  watch->next = watches;
  watches = watch;
  /* A socket alone is no reason for the process to live on. */
  uv_unref((uv_handle_t *)&watch->handle);
  return number(env, uv_poll_start(&watch->handle, UV_READABLE, on_ready));
}

static void on_closed(uv_handle_t *handle) {
  struct watch *watch = handle->data;
  napi_handle_scope scope;
  napi_open_handle_scope(watch->env, &scope);
  napi_delete_reference(watch->env, watch->callback);
  napi_async_destroy(watch->env, watch->context);
  napi_close_handle_scope(watch->env, scope);
  free(watch);
}

static napi_value close_socket(napi_env env, napi_callback_info info) {
  uint32_t in[3];
  read_numbers(env, info, 1, in);
  for (struct watch **link = &watches; *link != NULL; link = &(*link)->next) {
    struct watch *watch = *link;
    if (watch->fd != (int)in[0]) continue;
    *link = watch->next;
    watch->closing = 1;
    uv_close((uv_handle_t *)&watch->handle, on_closed);
    break;
  }
  return number(env, close((int)in[0]) < 0 ? -errno : 0);
}

static void export_function(napi_env env, napi_value exports, const char *name, napi_callback function) {
  napi_value value;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, function, NULL, &value);
  napi_set_named_property(env, exports, name, value);
}

NAPI_MODULE_INIT() {
  export_function(env, exports, "open", open_socket);
  export_function(env, exports, "port", port_of_socket);
  export_function(env, exports, "send", send_bytes);
  export_function(env, exports, "recv", receive_bytes);
  export_function(env, exports, "poll", poll_socket);
  export_function(env, exports, "close", close_socket);
  return exports;
}

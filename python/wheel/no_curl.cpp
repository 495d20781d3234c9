// Stands for libcurl inside the wheel. Debian's HDF5 asks for it because of its driver for files on Amazon S3, which tribo
// never uses; the true library would bring Kerberos, LDAP and two TLS libraries along, 4 MB. Every call says that it failed.
#define EXPORT extern "C" [[gnu::visibility("default")]]

constexpr int kFailedInit = 2;  // CURLE_FAILED_INIT

EXPORT int curl_global_init(long) { return kFailedInit; }
EXPORT void curl_global_cleanup() {}
EXPORT void* curl_easy_init() { return nullptr; }
EXPORT void curl_easy_cleanup(void*) {}
EXPORT int curl_easy_perform(void*) { return kFailedInit; }
EXPORT int curl_easy_setopt(void*, int, ...) { return kFailedInit; }
EXPORT void* curl_slist_append(void*, const char*) { return nullptr; }
EXPORT void curl_slist_free_all(void*) {}
